-- Drives a Neovim without any plugin or recipe: a code action with an approval, then a chat file.
-- Writes one JSON line per observation to $DRIVE_OUT.

local out = assert(io.open(os.getenv("DRIVE_OUT"), "w"))
local function tell(name, value)
  out:write(vim.fn.json_encode({ name = name, value = value }), "\n")
  out:flush()
end

local messages = {}
local stock = vim.lsp.handlers["window/showMessage"]
vim.lsp.handlers["window/showMessage"] = function(problem, result, ...)
  messages[#messages + 1] = result.message
  return stock(problem, result, ...)
end

-- The stock answer to window/showMessageRequest asks by number.
local asked = {}
vim.fn.inputlist = function(lines)
  asked[#asked + 1] = table.concat(lines, "\n")
  return 1
end

-- The stock choice of a code action.
local wanted
vim.ui.select = function(items, options, callback)
  local titles = {}
  for _, item in ipairs(items) do
    titles[#titles + 1] = options.format_item(item)
  end
  tell("offered", titles)
  for number, title in ipairs(titles) do
    if title:find(wanted, 1, true) then
      return callback(items[number], number)
    end
  end
  callback(nil)
end

local function until_(what, check)
  if not vim.wait(150000, check, 10) then
    error("never: " .. what)
  end
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
end

local function drive()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  if os.getenv("DRIVE_PINNED") == "1" then
    capabilities.workspace.workspaceEdit.documentChanges = true
  end
  local root = os.getenv("DRIVE_WORKSPACE")
  local id = vim.lsp.start_client({
    name = "codelaw",
    cmd = vim.fn.json_decode(os.getenv("DRIVE_SERVER")),
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = "project" } },
    capabilities = capabilities,
    init_options = vim.fn.json_decode(os.getenv("DRIVE_SETTINGS")),
  })
  vim.o.autoread = true
  vim.cmd("edit calc.py")
  vim.lsp.buf_attach_client(0, id)
  until_("the server is there", function()
    return vim.lsp.get_client_by_id(id) ~= nil and vim.lsp.get_client_by_id(id).initialized
  end)

  wanted = "write a test"
  vim.api.nvim_win_set_cursor(0, { 2, 4 })
  vim.lsp.buf.code_action()
  until_("the answer is shown", function()
    return #messages > 0
  end)
  vim.cmd("silent! checktime")
  tell("asked", asked)
  tell("message", messages[1])
  tell("code", text())
  vim.cmd("silent! write!")

  vim.cmd("edit talk.chat.md")
  local lines = { "## You", "", "Was ist 🦊?" }
  vim.api.nvim_buf_set_lines(0, 0, -1, true, lines)
  vim.lsp.buf_attach_client(0, id)
  local changes = 0
  vim.api.nvim_buf_attach(0, false, {
    on_lines = function()
      changes = changes + 1
    end,
  })
  wanted = "Send"
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  vim.lsp.buf.code_action()
  until_("the answer begins", function()
    return text():find("Piece 1 ", 1, true)
  end)
  vim.api.nvim_buf_set_lines(0, -1, -1, true, { "typed meanwhile" })
  until_("the answer ends", function()
    return text():find("<!%-%- /turn %w+ %-%->")
  end)
  tell("changes", changes)
  tell("chat", text())
  vim.cmd("silent! write!")
end

local fine, problem = pcall(drive)
if not fine then
  tell("error", tostring(problem))
  tell("chat", text())
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
