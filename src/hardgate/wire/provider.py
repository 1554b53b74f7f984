"""The scripted provider: a model script, served on loopback as a real provider."""

import time
from collections.abc import Callable
from types import TracebackType

from hardgate.fixtures.model_script import ModelScript
from hardgate.wire.limits import Limits
from hardgate.wire.server import Server
from hardgate.wire.service import ModelService
from hardgate.wire.transcript import Transcript

HOST = "127.0.0.1"
# SDKs ask for a key; this provider takes any.
KEY = "not-a-key"
MODELS = ("scripted-model",)


class ScriptedProvider:
    """Serves one script to one agent, from `start` to `stop`, or within `with`.

    Every request is judged; one that breaks a rule is refused and takes no turn. Afterwards
    `transcript` tells what was seen and `turns_consumed` how far the script came. `models` are
    the models that are listed; requests may name any. Each provider serves once.
    """

    def __init__(
        self,
        script: ModelScript,
        limits: Limits = Limits(),
        models: tuple[str, ...] = MODELS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._service = ModelService(script, limits, models, clock)
        self._server = Server(self._service, limits, clock)

    def start(self) -> None:
        """Listen on a free port of the loopback interface. Raises OSError."""
        self._server.start(HOST)

    def stop(self) -> None:
        """Close every connection; returns when all have ended."""
        self._server.stop()

    def __enter__(self) -> "ScriptedProvider":
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def transcript(self) -> Transcript:
        return self._service.transcript

    @property
    def turns_consumed(self) -> int:
        return self._service.player.turns_consumed

    @property
    def turns_total(self) -> int:
        return self._service.player.turns_total

    @property
    def url(self) -> str:
        """The root, without a path: Anthropic's base URL; OpenAI's has /v1 behind it."""
        return f"http://{HOST}:{self._server.port}"

    def environment(self) -> dict[str, str]:
        """The variables from which SDKs take base URL and key, and that keep proxies away."""
        return {
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.url,
            "NO_PROXY": HOST,
            "OPENAI_API_BASE": f"{self.url}/v1",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "no_proxy": HOST,
        }
