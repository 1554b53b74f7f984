"""Profiles, principals and deployments from files: what is read, and what is refused and where."""

import pytest

from agent_core.adapters.configuration.deployment import read_deployment, read_identity
from agent_core.domain.deployment import ConfigurationRefused, DeploymentMode
from agent_core.domain.policy import Condition, PolicyEffect, Rule, TrustOverlay
from agent_core.domain.sessions import Principal
from agent_core.domain.tools import SideEffectClass
from agent_core.domain.trust import TrustLevel

CLASSES = "\n".join(f"  {one}: {{decision: deny}}" for one in list(SideEffectClass)[2:])
PROFILE = f"""\
schema_version: 1
name: sample
rules:
  none: {{decision: allow}}
  workspace_read: {{decision: allow, condition: path_inside_workspace, otherwise: deny}}
{CLASSES}
host_allowlist: [a.example, sub.b-c.example]
trust_overlay:
  at_or_below: knowledge
  exempt: [none, network_read]
"""
PRINCIPALS = """\
schema_version: 1
principals:
  team.reader:
    tenant: tenant_a
    scopes: [run.read, session.read]
  nobody: {tenant: tenant_b, scopes: []}
"""
DEPLOYMENT = """\
schema_version: 1
mode: staging
identity: identity
profile: sample
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Writes a deployment, with files changed or left out, and works in its folder."""
    monkeypatch.chdir(tmp_path)

    def write(change=()):
        texts = {
            "deployment.yaml": DEPLOYMENT,
            "identity/principals.yaml": PRINCIPALS,
            "identity/profiles/sample.yaml": PROFILE,
        }
        for path, text in (texts | dict(change)).items():
            if text is not None:
                place = tmp_path / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)

    return write


def refusals(read, *arguments):
    with pytest.raises(ConfigurationRefused) as caught:
        read(*arguments)
    return str(caught.value).splitlines()


def test_a_deployment_with_everything_it_names(files):
    files()
    settings = read_deployment("deployment.yaml")
    assert settings.mode is DeploymentMode.STAGING
    assert settings.identity.principals == {
        "team.reader": Principal(
            "team.reader", frozenset({"run.read", "session.read"}), "tenant_a"
        ),
        "nobody": Principal("nobody", frozenset(), "tenant_b"),
    }
    assert settings.identity.profiles == {"sample": settings.rules}
    rules = settings.rules
    assert rules.rules[SideEffectClass.NONE] == Rule(PolicyEffect.ALLOW)
    assert rules.rules[SideEffectClass.WORKSPACE_READ] == Rule(
        PolicyEffect.ALLOW, Condition.PATH_INSIDE_WORKSPACE, PolicyEffect.DENY
    )
    assert rules.rules[SideEffectClass.PRIVILEGED] == Rule(PolicyEffect.DENY)
    assert rules.allowed_hosts == {"a.example", "sub.b-c.example"}
    assert rules.overlay == TrustOverlay(
        TrustLevel.KNOWLEDGE, frozenset({SideEffectClass.NONE, SideEffectClass.NETWORK_READ})
    )
    assert rules.version.startswith("sample@")


def test_the_version_of_a_profile_is_that_of_its_content(files):
    files()
    before = read_deployment("deployment.yaml").rules.version
    files({"identity/profiles/sample.yaml": f"# Said.\n{PROFILE.replace('[none, ', '[none,  ')}"})
    assert read_deployment("deployment.yaml").rules.version == before
    files({"identity/profiles/sample.yaml": PROFILE.replace("knowledge", "memory")})
    assert read_deployment("deployment.yaml").rules.version != before


def missing(place, key):
    return f"{place}: schema.missing_key: found no key '{key}', which is required"


def unknown_key(place, found, allowed):
    return f"{place}: schema.unknown_key: found '{found}'; allowed: {allowed}"


def unknown(place, found, allowed):
    return f"{place}: schema.unknown_value: found '{found}'; allowed: {allowed}"


def wrong(place, found, allowed):
    return f"{place}: schema.type: found {found}; allowed: {allowed}"


def form(place, found, allowed):
    return f"{place}: schema.form: found '{found}'; allowed: {allowed}"


def repeated(place, found):
    return f"{place}: schema.repeated: found '{found}' again; allowed: each item once"


DECISIONS = "allow, require_approval, deny"
CONDITIONS = "path_inside_workspace, host_on_allowlist, target_isolated"
LEVELS = (
    "platform, trusted_configuration, user, internal_tool, memory, knowledge, external_untrusted"
)
CLASS_NAMES = ", ".join(SideEffectClass)
HOST = "a host name such as api.example.org, in lower case"
NAME = "a name such as team.reader (a-z, 0-9, _ and .)"
KEYS = "schema_version, name, rules, host_allowlist, trust_overlay"
PAIR = "condition and otherwise, or none of them"
ALL_RULES = PROFILE[PROFILE.index("rules:") : PROFILE.index("host_allowlist")]
NONE = "none: {decision: allow}"

A_RULE_TOO_FEW_OR_TOO_MANY = [
    ("  privileged: {decision: deny}\n", "", [missing("4:3", "privileged")]),
    ("  none: {decision: allow}\n", "", [missing("4:3", "none")]),
    (
        "  financial:",
        "  finance:",
        [
            missing("4:3", "financial"),
            unknown_key("14:3", "finance", f"{CLASS_NAMES}; did you mean 'financial'?"),
        ],
    ),
    (
        "  financial:",
        "  publication:",
        [
            "15:3: yaml.duplicate_key: found the key 'publication' again (first at 14:3); "
            "allowed: once"
        ],
    ),
    ("  none:", "  all: {decision: allow}\n  none:", [unknown_key("4:3", "all", CLASS_NAMES)]),
    (ALL_RULES, "rules: {}\n", [missing("3:8", one) for one in SideEffectClass]),
    (ALL_RULES, "rules: [none]\n", [wrong("3:8", "a list", "a map")]),
]
WHAT_A_RULE_SAYS = [
    (
        NONE,
        "none: {decision: alow}",
        [unknown("4:20", "alow", f"{DECISIONS}; did you mean 'allow'?")],
    ),
    (
        NONE,
        "none: {decision: allow_with_modifications}",
        [unknown("4:20", "allow_with_modifications", DECISIONS)],
    ),
    (NONE, "none: {decision: true}", [wrong("4:20", "true", DECISIONS)]),
    (NONE, "none: {decision: [allow]}", [wrong("4:20", "a list", DECISIONS)]),
    (NONE, "none: allow", [wrong("4:9", "'allow'", "a map")]),
    (NONE, "none: {}", [missing("4:9", "decision")]),
    (
        NONE,
        "none: {decision: allow, when: always}",
        [unknown_key("4:27", "when", "decision, condition, otherwise")],
    ),
    (
        "path_inside_workspace",
        "path_in_workspace",
        [
            unknown(
                "5:48", "path_in_workspace", f"{CONDITIONS}; did you mean 'path_inside_workspace'?"
            )
        ],
    ),
    (
        ", otherwise: deny",
        "",
        [f"5:19: profile.incomplete_rule: found condition alone; allowed: {PAIR}"],
    ),
    (
        "condition: path_inside_workspace, ",
        "",
        [f"5:19: profile.incomplete_rule: found otherwise alone; allowed: {PAIR}"],
    ),
    (
        "otherwise: deny",
        "otherwise: allow",
        [
            "5:82: profile.lenient_otherwise: found allow, otherwise allow; "
            "allowed: what is more restrictive"
        ],
    ),
    (
        "{decision: allow, condition",
        "{decision: deny, condition",
        [
            "5:81: profile.lenient_otherwise: found deny, otherwise deny; "
            "allowed: what is more restrictive"
        ],
    ),
]
THE_REST_OF_A_PROFILE = [
    ("schema_version: 1\n", "", [missing("1:1", "schema_version")]),
    ("schema_version: 1", "schema_version: 2", ["1:17: schema.version: found 2; allowed: 1"]),
    ("schema_version: 1", "schema_version: '1'", ["1:17: schema.version: found '1'; allowed: 1"]),
    (
        "schema_version: 1",
        "schema_version: true",
        ["1:17: schema.version: found true; allowed: 1"],
    ),
    (
        "name: sample",
        "nane: sample",
        [missing("1:1", "name"), unknown_key("2:1", "nane", f"{KEYS}; did you mean 'name'?")],
    ),
    (
        "name: sample",
        "name: other",
        ["2:7: profile.file_name: found 'other'; allowed: 'sample', as the file is named"],
    ),
    (
        "name: sample",
        "name: Sample",
        [
            "2:7: profile.file_name: found 'Sample'; allowed: 'sample', as the file is named",
            form("2:7", "Sample", NAME),
        ],
    ),
    ("name: sample", "name: 7", [wrong("2:7", "7", "a text")]),
    ("[a.example,", "[A.example,", [form("19:18", "A.example", HOST)]),
    ("[a.example,", "['*.example',", [form("19:18", "*.example", HOST)]),
    ("[a.example,", "[localhost,", [form("19:18", "localhost", HOST)]),
    (
        "[a.example,",
        f"[{'a.' * 126}bc,",
        [f"19:18: schema.form: found '{'a.' * 30}'...; allowed: {HOST}"],
    ),
    ("[a.example,", "[sub.b-c.example,", [repeated("19:35", "sub.b-c.example")]),
    ("[a.example, sub.b-c.example]", "a.example", [wrong("19:17", "'a.example'", "a list")]),
    ("at_or_below: knowledge", "at_or_below: outside", [unknown("21:16", "outside", LEVELS)]),
    (
        "[none, network_read]",
        "[none, network]",
        [unknown("22:18", "network", f"{CLASS_NAMES}; did you mean 'network_read'?")],
    ),
    ("[none, network_read]", "[none, none]", [repeated("22:18", "none")]),
    ("[none, network_read]", "[none, 1]", [wrong("22:18", "1", CLASS_NAMES)]),
    ("  exempt: [none, network_read]\n", "", [missing("21:3", "exempt")]),
    (
        "[none, network_read]",
        "[none, network_read]\nhardline: []",
        [unknown_key("23:1", "hardline", KEYS)],
    ),
    (
        NONE,
        f"{NONE[:6]}&x {NONE[6:]}",
        ["4:9: yaml.anchor: found the anchor &x; allowed: the value"],
    ),
    (PROFILE, "", ["1:1: yaml.empty_file: found nothing; allowed: a map"]),
    (PROFILE, "- none\n", [wrong("1:1", "a list", "a map")]),
    (PROFILE, PROFILE + "#" * 70_000, ["1:1: yaml.file_too_large: found more than 65536 bytes"]),
]
BAD_PROFILES = [*A_RULE_TOO_FEW_OR_TOO_MANY, *WHAT_A_RULE_SAYS, *THE_REST_OF_A_PROFILE]


@pytest.mark.parametrize(("old", "new", "said"), BAD_PROFILES)
def test_a_bad_profile_is_refused_at_its_place(files, old, new, said):
    assert PROFILE.count(old) == 1
    files({"identity/profiles/sample.yaml": PROFILE.replace(old, new)})
    path = "identity/profiles/sample.yaml"
    expected = sorted(f"{path}:{line}" for line in said)
    assert sorted(refusals(read_identity, "identity", DeploymentMode.DEVELOPMENT)) == expected


SCOPES = (
    "session.read, session.write, run.read, run.write, run.cancel, approval.read, "
    "approval.resolve, review.resolve, artifact.read, artifact.write, workspace.read, workspace.write, "
    "sandbox.execute, skill.write, demo.write, knowledge.write"
)
SCOPE_NEAR = f"{SCOPES}; did you mean 'run.read'?"
TENANT = "a name such as tenant_a (a-z, 0-9 and _)"
ALL_PRINCIPALS = PRINCIPALS[PRINCIPALS.index("principals:") :]
BAD_PRINCIPALS = [
    ("[run.read, ", "[run.red, ", unknown("5:14", "run.red", SCOPE_NEAR)),
    ("[run.read, ", "[run.*, ", unknown("5:14", "run.*", SCOPE_NEAR)),
    ("[run.read, ", "[session.read, ", repeated("5:28", "session.read")),
    ("tenant: tenant_a", "tenant: Tenant A", form("4:13", "Tenant A", TENANT)),
    ("    tenant: tenant_a\n", "", missing("4:5", "tenant")),
    ("team.reader", "Team.Reader", form("3:3", "Team.Reader", NAME)),
    ("team.reader", "EVAL.standard", form("3:3", "EVAL.standard", NAME)),
    ("team.reader", "\u0435val.standard", form("3:3", "\u0435val.standard", NAME)),
    (
        "nobody",
        "team.reader",
        "6:3: yaml.duplicate_key: found the key 'team.reader' again (first at 3:3); allowed: once",
    ),
    ("nobody: {tenant: tenant_b, scopes: []}", "nobody: []", wrong("6:11", "a list", "a map")),
    (
        ALL_PRINCIPALS,
        "principals: {}\n",
        "2:13: schema.empty: found nothing; allowed: at least one name",
    ),
    (ALL_PRINCIPALS, "principals: []\n", wrong("2:13", "a list", "a map")),
    (PRINCIPALS, "schema_version: 1\n", missing("1:1", "principals")),
]


@pytest.mark.parametrize(("old", "new", "said"), BAD_PRINCIPALS)
def test_bad_principals_are_refused_at_their_place(files, old, new, said):
    assert PRINCIPALS.count(old) == 1
    files({"identity/principals.yaml": PRINCIPALS.replace(old, new)})
    expected = [f"identity/principals.yaml:{said}"]
    assert refusals(read_identity, "identity", DeploymentMode.PRODUCTION) == expected


BAD_DEPLOYMENTS = [
    (
        "mode: staging",
        "mode: test",
        unknown("2:7", "test", "development, staging, production"),
    ),
    ("mode: staging\n", "", missing("1:1", "mode")),
    ("identity: identity", "identity: ''", form("3:11", "", "the path of a folder")),
    (
        "profile: sample",
        "profile: sampel",
        "4:10: deployment.unknown_profile: found 'sampel'; allowed: sample; did you mean 'sample'?",
    ),
    (
        "profile: sample",
        "profile: sample\ndebug: true",
        unknown_key("5:1", "debug", "schema_version, mode, identity, profile"),
    ),
]


@pytest.mark.parametrize(("old", "new", "said"), BAD_DEPLOYMENTS)
def test_a_bad_deployment_is_refused_at_its_place(files, old, new, said):
    assert DEPLOYMENT.count(old) == 1
    files({"deployment.yaml": DEPLOYMENT.replace(old, new)})
    assert refusals(read_deployment, "deployment.yaml") == [f"deployment.yaml:{said}"]


def test_files_that_are_not_there(files):
    files({"identity/principals.yaml": None, "identity/profiles/sample.yaml": None})
    missing = "1:1: file.unreadable: cannot be read: No such file or directory"
    assert refusals(read_deployment, "no.yaml") == [f"no.yaml:{missing}"]
    assert refusals(read_deployment, "deployment.yaml") == [
        f"identity/principals.yaml:{missing}",
        f"identity/profiles:{missing}",
    ]


def test_a_folder_of_profiles_holds_profiles_and_nothing_else(files):
    files({"identity/profiles/sample.yml": PROFILE, "identity/profiles/sample.yaml~": ""})
    said = "1:1: file.unknown: found {}; allowed: <profile>.yaml"
    assert refusals(read_identity, "identity", DeploymentMode.STAGING) == [
        f"identity/profiles/sample.yaml~:{said.format(repr('sample.yaml~'))}",
        f"identity/profiles/sample.yml:{said.format(repr('sample.yml'))}",
    ]


def test_a_folder_without_a_profile(files, tmp_path):
    files({"identity/profiles/sample.yaml": None})
    (tmp_path / "identity/profiles").mkdir()
    said = "1:1: file.no_profile: found an empty folder; allowed: at least one profile"
    found = refusals(read_identity, "identity", DeploymentMode.STAGING)
    assert found == [f"identity/profiles:{said}"]


def test_the_problems_of_all_files_are_told_together(files):
    files(
        {
            "identity/principals.yaml": PRINCIPALS.replace("run.read", "run.red"),
            "identity/profiles/sample.yaml": PROFILE.replace("name: sample", "name: other"),
            "identity/profiles/zero.yaml": "",
        }
    )
    said = refusals(read_identity, "identity", DeploymentMode.STAGING)
    assert [line.split(": ")[0] for line in said] == [
        "identity/principals.yaml:5:14",
        "identity/profiles/sample.yaml:2:7",
        "identity/profiles/zero.yaml:1:1",
    ]


EVALUATION = [
    (
        "identity/principals.yaml",
        PRINCIPALS.replace("team.reader", "eval.reader"),
        "3:3: deployment.evaluation_principal: found the principal 'eval.reader'",
    ),
    (
        "identity/principals.yaml",
        PRINCIPALS.replace("tenant_b", "tenant_eval"),
        "6:20: deployment.evaluation_tenant: found the tenant 'tenant_eval'",
    ),
    (
        "identity/profiles/eval.sample.yaml",
        PROFILE.replace("name: sample", "name: eval.sample"),
        "2:7: deployment.evaluation_profile: found the profile 'eval.sample'",
    ),
]


@pytest.mark.parametrize("mode", DeploymentMode)
@pytest.mark.parametrize(("path", "text", "said"), EVALUATION)
def test_nothing_of_evaluations_is_loaded_outside_development(files, mode, path, text, said):
    files({path: text})
    if mode is DeploymentMode.DEVELOPMENT:
        read_identity("identity", mode)
        return
    end = f"; allowed in the mode development only, and this is {mode}"
    assert refusals(read_identity, "identity", mode) == [f"{path}:{said}{end}"]


@pytest.mark.parametrize("name", ["evaluator", "eval", "team.eval", "evals.team"])
def test_only_the_prefix_itself_is_reserved(files, name):
    files({"identity/principals.yaml": PRINCIPALS.replace("team.reader", name)})
    assert name in read_identity("identity", DeploymentMode.PRODUCTION).principals
