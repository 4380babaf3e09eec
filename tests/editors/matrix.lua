-- Lets things happen to files between two turns, in a Neovim without any plugin.
-- Reads its cells from $DRIVE_CELLS and writes one JSON line per cell to $DRIVE_OUT.

local out = assert(io.open(os.getenv("DRIVE_OUT"), "w"))
local function tell(name, value)
  out:write(vim.fn.json_encode({ name = name, value = value }), "\n")
  out:flush()
end

vim.o.hidden = true
vim.o.autoread = false
vim.o.swapfile = false

local function spit(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local function drive()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.workspace.workspaceEdit.documentChanges = true
  local root = os.getenv("DRIVE_WORKSPACE")
  local id = vim.lsp.start_client({
    name = "codelaw",
    cmd = vim.fn.json_decode(os.getenv("DRIVE_SERVER")),
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = "project" } },
    capabilities = capabilities,
    init_options = vim.fn.json_decode(os.getenv("DRIVE_SETTINGS")),
  })
  if not vim.wait(150000, function()
    return vim.lsp.get_client_by_id(id) ~= nil and vim.lsp.get_client_by_id(id).initialized
  end, 10) then
    error("never: the server is there")
  end
  local client = vim.lsp.get_client_by_id(id)

  local function ask(method, params)
    local answer = assert(client.request_sync(method, params, 150000, 0))
    assert(answer.err == nil, vim.inspect(answer.err))
    return answer.result
  end

  local function turn(chat)
    local result = ask("codelaw/chat/send", { text = "go", chatId = chat })
    assert(result.stopReason == "finished", vim.inspect(result))
    return result.chatId
  end

  local function open(path)
    vim.cmd("edit " .. path)
    vim.lsp.buf_attach_client(0, id)
  end

  local happen = {
    ["disk edit"] = function(path)
      spit(path, "one = 1\ntwo = 22\n")
    end,
    ["buffer edit"] = function(path, opened)
      if not opened then
        open(path)
      end
      vim.api.nvim_buf_set_lines(0, 0, 0, true, { "zero = 0" })
      -- Neovim gathers changes for 150 ms before it tells of them.
      vim.wait(400)
    end,
    ["own edit"] = function(_, _, chat)
      turn(chat)
    end,
    ["formatter"] = function(path, opened, chat)
      if not opened then
        open(path)
      end
      turn(chat)
      vim.cmd("silent %s/   / /ge")
      vim.cmd("silent write!")
      if not opened then
        vim.cmd("bwipeout!")
      end
    end,
    ["touch"] = function(path)
      vim.loop.fs_utime(path, 1, 1)
    end,
    ["delete"] = function(path)
      os.remove(path)
    end,
    ["rename"] = function(path)
      os.rename(path, path .. ".new")
    end,
    ["symlink"] = function(path)
      local outside = root .. "/../outside"
      spit(outside, "one = 1\ntwo = 2\n")
      os.remove(path)
      vim.loop.fs_symlink(outside, path)
    end,
  }

  for _, cell in ipairs(vim.fn.json_decode(os.getenv("DRIVE_CELLS"))) do
    local path = root .. "/" .. cell.file
    spit(path, "one = 1\ntwo = 2\n")
    if cell.opened then
      open(path)
    end
    local chat = turn(nil)
    happen[cell.event](path, cell.opened, chat)
    turn(chat)
    local last
    for _, message in ipairs(ask("codelaw/chat/read", { chatId = chat }).messages) do
      if message.role == "tool" then
        last = message.content
      end
    end
    tell(cell.file, last)
    vim.cmd("silent! %bwipeout!")
  end
  client.stop()
end

local fine, problem = pcall(drive)
if not fine then
  tell("error", tostring(problem))
end
out:close()
vim.cmd("qall!")
