"""`codelaw/model/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.protocol import models as wire

if TYPE_CHECKING:
    from codelaw.domain.reports import ModelInfo
    from codelaw.lsp.context import Context


async def list_models(context: Context, _params: wire.ListModels) -> wire.ModelList:
    return wire.ModelList(models=[*map(_model, context.session.models())])


def _model(item: ModelInfo) -> wire.Model:
    prices = item.prices
    steps = [wire.PriceStep.of(step) for step in prices.steps] if prices is not None else []
    return wire.Model.of(
        item,
        effort=list(item.effort) or None,
        price_in=None if prices is None else prices.input,
        price_out=None if prices is None else prices.output,
        price_read=None if prices is None else prices.cache_read,
        price_steps=steps or None,
        retired=item.retired or None,
    )


HANDLERS = {
    "codelaw/model/list": list_models,
}
