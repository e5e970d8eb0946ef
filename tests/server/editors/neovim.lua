-- Drives Neovim's own LSP client: opens a file, lists diagnostics, hovers, applies a quick fix. Needs 0.7 or later.
local server = vim.fn.json_decode(vim.env.SERVER)
local seen = {}

local function wait_for(what, condition)
  assert(vim.wait(60000, condition, 20), "waited in vain for " .. what)
end

local function finish()
  vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.SEEN)
end

local ok, problem = pcall(function()
  vim.cmd("edit " .. vim.env.EXAMPLE)
  local id = vim.lsp.start_client({ name = "energy-lsp", cmd = server, root_dir = vim.fn.getcwd() })
  vim.lsp.buf_attach_client(0, id)

  wait_for("diagnostics", function() return #vim.diagnostic.get(0) > 0 end)
  seen.diagnostics = vim.tbl_map(function(one)
    return { line = one.lnum + 1, code = one.code, message = one.message }
  end, vim.diagnostic.get(0))

  vim.fn.search("tf.pow", "e")
  vim.lsp.buf.hover()
  local shown
  wait_for("the hover's window", function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= "" then shown = window end
    end
    return shown ~= nil
  end)
  local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(shown), 0, -1, false)
  seen.hover = table.concat(lines, "\n")

  vim.ui.select = function(items, _, choose)
    seen.actions = vim.tbl_map(function(item) return item[2].title end, items)
    for _, item in ipairs(items) do
      if item[2].isPreferred then return choose(item) end
    end
  end
  local before = vim.api.nvim_buf_get_changedtick(0)
  vim.lsp.buf.code_action()
  wait_for("the fix", function() return vim.api.nvim_buf_get_changedtick(0) > before end)
  wait_for("fewer diagnostics", function()
    return #vim.tbl_filter(function(one) return one.code == "pow2" end, vim.diagnostic.get(0)) == 0
  end)
  vim.cmd("write")
  vim.lsp.stop_client(id)
  wait_for("the server's end", function() return vim.lsp.client_is_stopped(id) end)
end)
seen.problem = not ok and tostring(problem) or nil
finish()
vim.cmd("qall!")
