-- Drives the recipe in a headless Neovim: a turn with streaming and approvals, one that is refused, one that is steered
-- and cancelled, then the server's death and the chats of the next one.
-- Writes one JSON line per observation to $DRIVE_OUT.

local out = assert(io.open(os.getenv("DRIVE_OUT"), "w"))
local function tell(name, value)
  out:write(vim.fn.json_encode({ name = name, value = value }), "\n")
  out:flush()
end

local function drive()
  local codelaw = dofile(os.getenv("DRIVE_RECIPE"))
  local steered = false
  local deltas, asked, wanted = 0, {}, "^1  Allow"

  vim.ui.input = function(_, callback)
    -- A person takes a while, and the interface need not wait.
    vim.defer_fn(function()
      callback("it takes too long")
    end, 20)
  end
  vim.ui.select = function(items, _, callback)
    for _, item in ipairs(items) do
      if item.title:find("Write a note", 1, true) then
        return callback(item)
      end
    end
    callback(nil)
  end
  -- A person who goes to every question, and chooses the answer that is wanted.
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "codelaw-question",
    callback = function(event)
      asked[#asked + 1] = table.concat(vim.api.nvim_buf_get_lines(event.buf, 0, -1, true), "\n")
    end,
  })
  local function answer()
    codelaw.answer()
    if vim.bo.filetype ~= "codelaw-question" then
      return
    end
    for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
      if line:find(wanted) then
        vim.api.nvim_feedkeys(line:sub(1, 1), "x", false)
        assert(vim.api.nvim_win_get_cursor(0)[1] == number, "a digit chooses")
        local enter = vim.api.nvim_replace_termcodes("<CR>", true, false, true)
        return vim.api.nvim_feedkeys(enter, "x", false)
      end
    end
  end

  codelaw.setup({
    cmd = vim.fn.json_decode(os.getenv("DRIVE_SERVER")),
    settings = vim.fn.json_decode(os.getenv("DRIVE_SETTINGS")),
    on_event = function(params)
      tell("event", params.event.kind)
      steered = steered or params.event.kind == "steer"
      if params.event.kind == "thought" then
        deltas = deltas + 1
        if deltas == 1 then
          tell("shown at first delta", vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true))
        end
      end
    end,
  })
  codelaw.start(os.getenv("DRIVE_WORKSPACE"))

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
    local came = vim.wait(150000, function()
      answer()
      return ended
    end, 10)
    return came and result or "no answer"
  end

  tell("first", turn("Write a note, please"))
  tell("deltas", deltas)
  tell("asked", asked)
  tell("open", vim.api.nvim_buf_get_lines(open, 0, -1, true))
  tell("buffer", vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true))

  wanted = "^%d  Reject"
  tell("refused", turn("Now wait"))
  tell("buffer", vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true))

  local before = deltas
  tell("second", turn("And now something long", function()
    vim.wait(150000, function()
      return deltas > before
    end, 10)
    codelaw.send("make it short", function(problem, value)
      tell("steer", problem or value)
    end)
    vim.wait(150000, function()
      return steered
    end, 10)
    codelaw.cancel(function(problem, value)
      tell("cancel", problem or value)
    end)
  end))
  tell("buffer", vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true))

  local function shows(text)
    return vim.wait(150000, function()
      return table.concat(vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true), "\n"):find(text, 1, true) ~= nil
    end, 10)
  end

  -- The server dies, and the chat goes on with the next one.
  local id = codelaw.start()
  codelaw.setup({ settings = vim.fn.json_decode(os.getenv("DRIVE_SETTINGS_AGAIN")) })
  vim.loop.kill(tonumber(vim.fn.systemlist("pgrep -P " .. vim.fn.getpid() .. " -f codelaw")[1]), "sigkill")
  vim.wait(150000, function()
    return vim.lsp.get_client_by_id(id) == nil
  end, 10)
  vim.wait(50)
  tell("third", turn("Are you there?"))
  tell("buffer", vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true))

  -- Another chat, and back to the first.
  codelaw.new()
  tell("fourth", turn("Who are you?"))
  tell("buffer", vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true))
  codelaw.chats()
  tell("found", shows("## Are you there?"))
  vim.wait(200)
  tell("buffer", vim.api.nvim_buf_get_lines(codelaw.open(), 0, -1, true))
end

local fine, problem = pcall(drive)
if not fine then
  tell("error", tostring(problem))
end
for _, client in pairs(vim.lsp.get_active_clients()) do
  client.stop()
end
vim.wait(150000, function()
  return #vim.lsp.get_active_clients() == 0
end, 10)
tell("left", #vim.lsp.get_active_clients())
out:close()
vim.cmd("qall!")
