"""What an agent may not do to an MCP server: the names of the rules, and the codes of refusals."""

HTTP_MALFORMED = "mcp.http_malformed"
PATH_UNKNOWN = "mcp.path_unknown"
METHOD_WRONG = "mcp.method_wrong"
HEADER_WRONG = "mcp.header_wrong"
SESSION_MISSING = "mcp.session_missing"
SESSION_UNKNOWN = "mcp.session_unknown"
JSON_MALFORMED = "mcp.json_malformed"
MESSAGE_MALFORMED = "mcp.message_malformed"
PARAMS_MALFORMED = "mcp.params_malformed"
ID_REPEATED = "mcp.id_repeated"
NOT_INITIALIZED = "mcp.not_initialized"
INITIALIZE_REPEATED = "mcp.initialize_repeated"
RESPONSE_UNEXPECTED = "mcp.response_unexpected"
METHOD_UNKNOWN = "mcp.method_unknown"
TOOL_UNKNOWN = "mcp.tool_unknown"
CURSOR_UNKNOWN = "mcp.cursor_unknown"
NO_REPLY = "mcp.no_reply"
LIMIT = "mcp.limit"
INTERNAL = "mcp.internal_error"
# Known when all is over.
REPLY_UNUSED = "mcp.reply_unused"
ACTION_UNFIRED = "mcp.action_unfired"
TRANSCRIPT_BROKEN = "mcp.transcript_broken"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
