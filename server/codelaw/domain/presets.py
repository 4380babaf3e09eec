"""The vendors and local servers that are known by name: a table of facts about each (P-4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from codelaw.domain.models import DEFAULT_MODEL

Wire = Literal["messages", "responses", "completions"]
"""What is spoken: the Messages API, OpenAI's Responses, or its Chat Completions."""
Header = Literal["bearer", "x-api-key"]
Vendor = Literal[
    "anthropic",
    "openai",
    "openrouter",
    "gemini",
    "mistral",
    "deepseek",
    "xai",
    "groq",
    "moonshot",
    "zai",
    "minimax",
    "ollama",
    "lmstudio",
    "llamacpp",
    "vllm",
]


@dataclass(frozen=True, slots=True)
class Preset:
    """How one is reached."""

    name: Vendor
    title: str
    """As people call it."""
    base_url: str
    """Without `/v1` where the Messages API is spoken, since its client adds that."""
    wire: Wire
    keys: tuple[str, ...] = ()
    """Variables of the environment in which its key stands; the first that is set counts."""
    model: str = ""
    """The one that answers where none is named; empty: a local server has whatever was loaded there."""
    header: Header = "bearer"
    """In which its key goes."""
    listing: tuple[str, ...] = ("v1/models",)
    """Where it lists its models: below the base URL, or from `/` on below its host; the first that there is counts."""
    loaded: str = ""
    """Where a local server says, likewise, with which window its models run, which is often less than they have."""
    address: str = ""
    """A variable with another base URL."""
    gateway: bool = False
    """It passes on the models of many vendors, by names such as `openai/gpt-6`."""

    @property
    def key_hint(self) -> str:
        """Where its key is put."""
        places = (f"the variable {self.keys[0]}", *_places(self.name)) if self.keys else _places(self.name)
        return f"Put a key of {self.title} into {' or '.join(places)}."

    @property
    def local(self) -> bool:
        """Whether it is a server on this machine, which needs no key."""
        return self.base_url.startswith("http://localhost:")


def _places(name: str) -> tuple[str, ...]:
    setting = "model.apiKey" if name == "anthropic" else f"model.providers.{name}.apiKey"
    return (f"{setting} in codelaw's config.toml",)


_ALL = (
    Preset(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com",
        "messages",
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        model=DEFAULT_MODEL,
        address="ANTHROPIC_BASE_URL",
    ),
    Preset(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        "responses",
        keys=("OPENAI_API_KEY",),
        model="gpt-6.2-sol",
        listing=("models",),
        address="OPENAI_BASE_URL",
    ),
    Preset(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api",
        "messages",
        keys=("OPENROUTER_API_KEY",),
        model="anthropic/claude-sonnet-5.5",
        address="OPENROUTER_BASE_URL",
        gateway=True,
    ),
    Preset(
        "gemini",
        "Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "completions",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        model="gemini-3.8-flash",
        listing=("models",),
        address="GEMINI_BASE_URL",
    ),
    Preset(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        "completions",
        keys=("MISTRAL_API_KEY",),
        model="mistral-large-4",
        listing=("models",),
        address="MISTRAL_BASE_URL",
    ),
    Preset(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com/anthropic",
        "messages",
        keys=("DEEPSEEK_API_KEY",),
        model="deepseek-v4-pro",
        header="x-api-key",
        listing=("/models",),
        address="DEEPSEEK_BASE_URL",
    ),
    Preset(
        "xai",
        "xAI",
        "https://api.x.ai/v1",
        "completions",
        keys=("XAI_API_KEY",),
        model="grok-4.5",
        listing=("models",),
        address="XAI_BASE_URL",
    ),
    Preset(
        "groq",
        "Groq",
        "https://api.groq.com/openai/v1",
        "completions",
        keys=("GROQ_API_KEY",),
        model="openai/gpt-oss-120b",
        listing=("models",),
        address="GROQ_BASE_URL",
        gateway=True,
    ),
    Preset(
        "moonshot",
        "Moonshot",
        "https://api.moonshot.ai/anthropic",
        "messages",
        keys=("MOONSHOT_API_KEY",),
        model="kimi-k3.1-pro",
        listing=("/v1/models",),
        address="MOONSHOT_BASE_URL",
    ),
    Preset(
        "zai",
        "Z.ai",
        "https://api.z.ai/api/anthropic",
        "messages",
        keys=("ZAI_API_KEY",),
        model="glm-5.3",
        listing=("/api/paas/v4/models",),
        address="ZAI_BASE_URL",
    ),
    Preset(
        "minimax",
        "MiniMax",
        "https://api.minimax.io/anthropic",
        "messages",
        keys=("MINIMAX_API_KEY",),
        model="MiniMax-M3",
        listing=("/v1/models",),
        address="MINIMAX_BASE_URL",
    ),
    Preset(
        "ollama",
        "Ollama",
        "http://localhost:11434",
        "messages",
        keys=("OLLAMA_API_KEY",),
        loaded="/api/ps",
        address="OLLAMA_BASE_URL",
    ),
    Preset(
        "lmstudio",
        "LM Studio",
        "http://localhost:1234",
        "messages",
        listing=("/api/v1/models", "v1/models"),
        address="LMSTUDIO_BASE_URL",
    ),
    Preset("llamacpp", "llama.cpp", "http://localhost:8080", "messages", loaded="/props", address="LLAMACPP_BASE_URL"),
    Preset("vllm", "vLLM", "http://localhost:8000", "messages", address="VLLM_BASE_URL"),
)
PRESETS: Mapping[str, Preset] = MappingProxyType({one.name: one for one in _ALL})
"""By name, in the order in which `auto` looks for keys."""
