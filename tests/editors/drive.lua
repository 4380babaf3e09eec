-- Drives the recipe in a headless Neovim: one turn with streaming and an approval, then one that is cancelled.
-- Writes one JSON line per observation to $CODELAW_DRIVE_OUT.

local out = assert(io.open(os.getenv("CODELAW_DRIVE_OUT"), "w"))
local function tell(name, value)
  out:write(vim.fn.json_encode({ name = name, value = value }), "\n")
  out:flush()
end

local function drive()
  local codelaw = dofile(os.getenv("CODELAW_RECIPE"))
  local deltas, asked = 0, {}

  vim.ui.select = function(items, options, callback)
    asked[#asked + 1] = { prompt = options.prompt, first = options.format_item(items[1]), count = #items }
    for _, item in ipairs(items) do
      if item.kind == "allow_once" then
        return callback(item)
      end
    end
    callback(nil)
  end

  codelaw.setup({
    cmd = vim.fn.json_decode(os.getenv("CODELAW_SERVER")),
    settings = vim.fn.json_decode(os.getenv("CODELAW_SETTINGS")),
    on_event = function(params)
      tell("event", params.event.kind)
      if params.event.kind == "thought" then
        deltas = deltas + 1
        if deltas == 1 then
          tell("shown at first delta", vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true))
        end
      end
    end,
  })
  codelaw.start(os.getenv("CODELAW_WORKSPACE"))

  vim.cmd("edit open.txt")
  local open = vim.api.nvim_get_current_buf()

  local function turn(text, meanwhile)
    local ended, result
    codelaw.send(text, function(problem, value)
      ended, result = true, problem and { problem = problem } or value
    end)
    if meanwhile then
      meanwhile()
    end
    local came = vim.wait(20000, function()
      return ended
    end, 10)
    return came and result or "no answer"
  end

  tell("first", turn("Write a note, please"))
  tell("deltas", deltas)
  tell("asked", asked)
  tell("open", vim.api.nvim_buf_get_lines(open, 0, -1, true))
  tell("buffer", vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true))

  local before = deltas
  tell("second", turn("And now something long", function()
    vim.wait(20000, function()
      return deltas > before
    end, 10)
    codelaw.cancel(function(problem, value)
      tell("cancel", problem or value)
    end)
  end))
  tell("buffer", vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true))
end

local fine, problem = pcall(drive)
if not fine then
  tell("error", tostring(problem))
end
for _, client in pairs(vim.lsp.get_active_clients()) do
  client.stop()
end
vim.wait(3000, function()
  return #vim.lsp.get_active_clients() == 0
end, 10)
tell("left", #vim.lsp.get_active_clients())
out:close()
vim.cmd("qall!")
