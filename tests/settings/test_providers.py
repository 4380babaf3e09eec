"""Whose key goes where (P-4): the documented variables, their order, and a key that goes to nobody else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codelaw.app.known_keys import known_keys, withheld_variables
from codelaw.domain.presets import PRESETS, Preset
from codelaw.settings.effective import EffectiveSettings, load_settings

VENDORS = [preset for preset in PRESETS.values() if not preset.local]
EVERY_KEY = {variable: f"k3y7-{variable}" for preset in PRESETS.values() for variable in preset.keys}


def loaded(environ: dict[str, str], folder: Path = Path(), user: str = "", workspace: str = "") -> EffectiveSettings:
    files = [folder / "user.toml", folder / "workspace.toml"]
    if user or workspace:
        for file, text in zip(files, (user, workspace), strict=True):
            file.write_text(text)
    return load_settings(environ=environ, user_file=files[0], workspace_files=files[1:])


def test_the_order_of_keys_is_the_documented_one() -> None:
    assert [*PRESETS][:6] == ["anthropic", "openai", "openrouter", "gemini", "mistral", "deepseek"]
    left = dict(EVERY_KEY)
    for preset in VENDORS:
        model = loaded(left).value.model
        assert (model.chosen_provider, model.chosen_name) == (preset.name, preset.model)
        for variable in preset.keys:
            left.pop(variable)
    assert loaded(left).value.model.chosen_provider == "offline", "a local server is never taken by itself"


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_each_variable_is_the_key_of_its_vendor_alone(preset: Preset) -> None:
    for variable in preset.keys:
        model = loaded({variable: "its-own-key", "CODELAW_MODEL__PROVIDER": preset.name}).value.model
        found = {other.name: model.key_of(other.name) for other in PRESETS.values()}
        assert {name for name, key in found.items() if key} == {preset.name}
        assert found[preset.name] == "its-own-key"


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_each_address_can_be_another(preset: Preset) -> None:
    model = loaded({preset.address: "http://127.0.0.1:9", "CODELAW_MODEL__PROVIDER": preset.name}).value.model
    moved = [other.name for other in PRESETS.values() if model.address_of(other.name) == "http://127.0.0.1:9"]
    assert moved == [preset.name]


def test_anthropics_variables_go_to_nobody_else() -> None:
    anthropics = {"ANTHROPIC_API_KEY": "a", "ANTHROPIC_BASE_URL": "http://one"}
    model = loaded({**anthropics, "OPENAI_API_KEY": "o", "CODELAW_MODEL__PROVIDER": "openai"}).value.model
    assert (model.key_of("openai"), model.address_of("openai")) == ("o", PRESETS["openai"].base_url)
    assert (model.key_of("anthropic"), model.address_of("anthropic")) == ("a", "http://one")


def test_the_settings_own_key_is_the_named_providers(tmp_path: Path) -> None:
    user = '[model]\nprovider = "mistral"\napiKey = "mine"\nbaseUrl = "http://here"\n'
    model = loaded({"MISTRAL_API_KEY": "m", "ANTHROPIC_API_KEY": "a"}, tmp_path, user).value.model
    assert (model.key_of("mistral"), model.address_of("mistral"), model.key_of("anthropic")) == (
        "mine",
        "http://here",
        "a",
    )


def test_with_an_address_of_ones_own_auto_stays_with_messages() -> None:
    model = loaded({"CODELAW_MODEL__BASE_URL": "http://gateway", "OPENAI_API_KEY": "o"}).value.model
    assert model.chosen_provider == "anthropic"


def test_no_key_is_shown_and_every_key_is_known() -> None:
    effective = loaded(EVERY_KEY)
    shown = json.dumps(effective.describe())
    assert not [key for key in EVERY_KEY.values() if key in shown or key in repr(effective.value)]
    assert {*EVERY_KEY.values()} <= {*known_keys(effective.value, EVERY_KEY)}
    assert {*EVERY_KEY} <= withheld_variables(effective.value, EVERY_KEY)


def test_a_workspace_names_no_provider_and_no_address(tmp_path: Path) -> None:
    hostile = '[model]\nprovider = "openai"\n[model.providers.openai]\nbaseUrl = "http://thief"\napiKey = "x"\n'
    effective = loaded({"OPENAI_API_KEY": "o"}, tmp_path, workspace=hostile)
    assert effective.value.model.address_of("openai") == PRESETS["openai"].base_url
    assert effective.value.model.key_of("openai") == "o"
    assert [problem.code for problem in effective.problems] == ["setting_refused"] * 3
