-- SPDX-License-Identifier: Apache-2.0
--
-- libmxc from LuaJIT. All that this file knows of the interface it reads from docs/reference/api.json: it declares the types
-- to the FFI, and makes a function of each C function that takes and returns values of Lua.
--
--     local mxc = require "mxc"
--     local a = mxc.ndarray_create({2, 3}, mxc.MXC_F32, mxc.cpu(0))
--     a:fill(1)
--     print(a:print())
--
-- Rules, which all follow from the description:
--   * The status of a call becomes an error (a table with status, name, message and place; tostring gives all).
--   * What a function writes is returned, in the order of its parameters, behind the returned value. Memory of type void is
--     given by the caller as a buffer of the FFI.
--   * The length of an array that goes in is that of the table, string or buffer, and no argument of its own.
--   * What belongs to the caller is released with the object; what a call takes over is not. Objects that the library keeps
--     using are kept alive as long as the object that was given them.
--   * nil is NULL where that is allowed, and an error elsewhere.
--   * Functions of Lua can be callbacks where these are called on the calling thread; others are refused.
--   * Constants and enumerators have their own names; functions and structs go without "mxc_". The functions of a handle are
--     its methods: a:fill(1) is mxc.ndarray_fill(a, 1).
--
-- mxc.lua needs lua-cjson, or a table `json` with a function `decode` in package.loaded["cjson"].
local ffi = require "ffi"
local json = require "cjson"

local M = {}
local functions, structs, callbacks, handles = {}, {}, {}, {} -- the description by name
local library

-- Objects that must live as long as others, by owner and by the function that was given them: the next call of it replaces
-- them. Without an owner they live forever.
local anchors = setmetatable({}, { __mode = "k" })
local forever = {}

local function keep(owner, key, objects)
    if type(owner) ~= "cdata" then
        forever[#forever + 1] = objects
        return
    end
    anchors[owner] = anchors[owner] or {}
    anchors[owner][key] = objects
end

local function given(value)
    return value ~= nil and value ~= json.null
end

---- types -----------------------------------------------------------------------------------------------------------

-- "void (*)(int)" or "int64_t[8]" with the name where C has it
local function declare(type, name)
    if type:find("%(%*%)") then
        return (type:gsub("%(%*%)", "(*" .. name .. ")", 1))
    end
    local base, array = type:match("^(.-)(%[.*%])$")
    return base and base .. " " .. name .. array or type .. " " .. name
end

local function parameters(list)
    local out = {}
    for i, p in ipairs(list) do
        out[i] = declare(p.type, p.name)
    end
    return #out > 0 and table.concat(out, ", ") or "void"
end

local function declare_enum(e)
    local values = {}
    for i, v in ipairs(e.values) do
        values[i] = ("%s = %d"):format(v.name, v.value)
    end
    local body = table.concat(values, ", ")
    ffi.cdef(given(e.name) and ("typedef enum %s { %s } %s;"):format(e.name, body, e.name) or ("enum { %s };"):format(body))
end

-- A struct, behind those that are members of it.
local function declare_struct(s, done)
    if done[s.name] then
        return
    end
    done[s.name] = true
    local lines = {}
    for i, m in ipairs(s.members) do
        if m.kind == "struct" and m.pointers == 0 then
            declare_struct(structs[m.base], done)
        end
        lines[i] = declare(m.type, m.name) .. ";"
    end
    ffi.cdef(("struct %s { %s };"):format(s.name, table.concat(lines, " ")))
end

local function declare_all(api)
    for _, e in ipairs(api.enums) do
        declare_enum(e)
    end
    for _, list in ipairs { api.handles, api.structs } do
        for _, t in ipairs(list) do
            ffi.cdef(("typedef struct %s %s;"):format(t.name, t.name))
        end
    end
    for _, c in ipairs(api.callbacks) do
        ffi.cdef(("typedef %s (*%s)(%s);"):format(c.returns.type, c.name, parameters(c.params)))
    end
    local done = {}
    for _, s in ipairs(api.structs) do
        declare_struct(s, done)
    end
    for _, f in ipairs(api.functions) do
        local list = parameters(f.params) .. (f.variadic and ", ..." or "")
        ffi.cdef(("%s;"):format(declare(f.returns.type, ("%s(%s)"):format(f.name, list))))
    end
end

---- errors ----------------------------------------------------------------------------------------------------------

local Error = {
    __tostring = function(e)
        return ("%s: %s"):format(e.name, e.message)
    end,
}

local function raise(status)
    error(setmetatable({
        status = tonumber(status),
        name = ffi.string(library.mxc_status_name(status)),
        message = ffi.string(library.mxc_last_error()),
        place = ffi.string(library.mxc_last_error_place()),
    }, Error), 0)
end

-- An error of this file's own.
local function refuse(format, ...)
    raise(library.mxc_fail_at("mxc.lua", 0, ffi.C.MXC_EINVAL, "%s", format:format(...)))
end

---- callbacks -------------------------------------------------------------------------------------------------------

local function is_text(t)
    return t.base == "char" and t.pointers == 1
end

-- A function of Lua as a C function that returns a status: an error becomes one, with its message.
local function protect(fn, signature)
    local is_status = signature.returns.type == "mxc_status"
    return function(...)
        local args, n = { ... }, select("#", ...)
        for i, p in ipairs(signature.params) do
            if is_text(p) then
                args[i] = args[i] ~= nil and ffi.string(args[i]) or nil
            end
        end
        local ok, result = pcall(fn, unpack(args, 1, n))
        if not is_status then
            return ok and result or 0 / 0
        end
        if ok then
            return result or 0
        end
        local status = getmetatable(result) == Error and result.status or ffi.C.MXC_EUSER
        return library.mxc_fail_at("callback", 0, status, "%s", tostring(result.message or result))
    end
end

local function free_callback(callback)
    callback:free()
end

-- A callback of the FFI for a parameter or member t. Its place in the FFI's table, of which there are few, is free again when
-- it is collected.
local function make_callback(what, t, fn)
    local named = callbacks[t.base]
    local thread = t.thread or named and named.thread
    if thread ~= "caller" then
        refuse("%s: is called on other threads, which functions of Lua must not be", what)
    end
    local protected = protect(fn, named or t.signature)
    local ok, callback = pcall(ffi.cast, t.type, protected)
    if not ok then -- the table is full: of some that are garbage, perhaps
        collectgarbage()
        collectgarbage()
        callback = ffi.cast(t.type, protected)
    end
    return ffi.gc(callback, free_callback)
end

---- values that go in -----------------------------------------------------------------------------------------------

-- An array of the FFI of a table, and its number of elements. keepers holds what it points to.
local function to_array(p, value, keepers)
    local n = value.n or table.maxn(value) -- entries may be nil
    local element = p.base == "char" and "const char *" or p.base .. ("*"):rep(p.pointers - 1)
    local array = ffi.new(element .. "[?]", math.max(n, 1))
    for i = 1, n do
        if value[i] ~= nil then
            array[i - 1] = value[i]
            keepers[#keepers + 1] = value[i]
        end
    end
    keepers[#keepers + 1] = array
    return array, n
end

-- A value of Lua for a parameter or member, and its length if it has one.
local function to_c(what, p, value, keepers)
    if value == nil then
        if p.pointers == 0 and p.kind ~= "callback" then
            refuse("%s is missing", what)
        elseif p.nullable == false and p.length == nil then
            refuse("%s must not be nil", what)
        end
        return nil, 0
    end
    if p.kind == "callback" then
        if type(value) ~= "function" then
            return value
        end
        local callback = make_callback(what, p, value)
        keepers[#keepers + 1] = callback
        return callback
    end
    if p.pointers == 0 then
        return p.kind == "struct" and type(value) == "table" and ffi.new(p.base, value) or value
    end
    keepers[#keepers + 1] = value
    if type(value) == "string" then
        return value, #value
    elseif type(value) == "table" then
        if p.length then
            return to_array(p, value, keepers)
        end
        local object = M.new(p.base, value)
        keepers[#keepers + 1] = object
        return object
    end
    return value, p.length and p.length_unit == "bytes" and ffi.sizeof(value) or nil
end

---- values that come out --------------------------------------------------------------------------------------------

-- How an object is released: a function of one argument, or nil if the release needs to be told more.
local function releaser(name)
    local f = functions[name]
    if not f then
        return nil
    end
    for i = 2, #f.params do
        if not f.params[i].nullable then
            return nil
        end
    end
    return #f.params == 1 and library[name] or function(object)
        library[name](object, nil, nil)
    end
end

local function own(t, object)
    if object == nil then
        return nil
    end
    local release = t.ownership == "give" and t.release and releaser(t.release)
    return release and ffi.gc(object, release) or object
end

local function to_text(t, chars)
    if chars == nil then
        return nil
    end
    local text = ffi.string(chars)
    if t.ownership == "give" then
        library[t.release](chars)
    end
    return text
end

-- The slot that a function writes p to, and a function that reads it afterwards.
local function make_out(p, n)
    if p.length and p.direction == "out" and p.kind ~= "void" then -- an array of n
        local slot = ffi.new(p.base .. ("*"):rep(p.pointers - 1) .. "[?]", math.max(n or 0, 1))
        return slot, function()
            if p.base == "char" then
                return ffi.string(slot)
            end
            local list = {}
            for i = 1, n do
                list[i] = p.pointers > 1 and own(p, slot[i - 1]) or tonumber(slot[i - 1])
            end
            return list
        end
    elseif p.pointers == 2 then
        local slot = ffi.new((p.const and "const " or "") .. p.base .. " *[1]")
        return slot, function(sizes)
            if p.base == "char" then
                return to_text(p, slot[0])
            elseif p.kind == "void" and p.length then -- bytes, as many as another parameter says
                local text = ffi.string(slot[0], sizes[p.length])
                library[p.release](slot[0])
                return text
            end
            return own(p, slot[0])
        end
    elseif p.kind == "struct" then
        local object = ffi.new(p.base)
        return object, function()
            return own(p, object)
        end
    end
    local slot = ffi.new(p.base .. "[1]")
    return slot, function()
        return tonumber(slot[0])
    end
end

---- functions -------------------------------------------------------------------------------------------------------

-- What the function does with each parameter: an argument of Lua ("in"), made of the others ("length"), or a result ("out").
local function plan(f)
    local roles, names = {}, {}
    for i, p in ipairs(f.params) do
        names[p.name] = i
    end
    for i, p in ipairs(f.params) do
        local makes = p.direction == "out" and p.pointers > 0 and not (p.kind == "void" and p.pointers == 1)
        roles[i] = makes and "out" or "in"
    end
    for i, p in ipairs(f.params) do
        if roles[i] == "in" and p.length and names[p.length] and f.params[names[p.length]].pointers == 0 then
            roles[names[p.length]] = "length"
        end
    end
    return roles, names
end

local function result_of(f, value)
    local r = f.returns
    if r.type == "mxc_status" then
        return false
    elseif r.kind == "void" and r.pointers == 0 then
        return false
    elseif is_text(r) then
        return true, to_text(r, value)
    elseif r.pointers > 0 then
        return true, own(r, value)
    end
    return true, (r.kind == "integer" or r.kind == "float" or r.kind == "enum") and tonumber(value) or value
end

-- After a call: what it took over is not released here; what it keeps lives as long as its first or its new object.
local function settle(f, values, results, keepers)
    local owner, keeps = results[1] or values[1], false
    for i, p in ipairs(f.params) do
        local value = values[i]
        if p.ownership == "take" and type(value) == "cdata" then
            ffi.gc(value, nil)
        end
        keeps = keeps or p.ownership == "keep" or p.kind == "callback"
    end
    if keeps then
        keep(owner, f.name, keepers)
    end
end

-- Handles of a list that is read and written: entries that were nil and are not any more belong to the caller.
local function own_new_entries(p, list, array, n)
    for i = 1, n do
        if list[i] == nil and array[i - 1] ~= nil then
            list[i] = ffi.gc(array[i - 1], releaser(handles[p.base].release))
        end
    end
end

local function make_function(f)
    local roles, names = plan(f)
    local entry = library[f.name]
    return function(...)
        local args, at = { ... }, 0
        local arguments, values, keepers, readers, lengths = {}, {}, {}, {}, {}
        for i, p in ipairs(f.params) do
            if roles[i] == "in" then
                at = at + 1
                arguments[i] = args[at]
                local n
                values[i], n = to_c(("%s: %s"):format(f.name, p.name), p, args[at], keepers)
                local counter = p.length and names[p.length]
                if counter and n then
                    if lengths[counter] and args[at] ~= nil and lengths[counter] ~= n and lengths[counter] > 0 then
                        refuse("%s: %s: expected %d entries, found %d", f.name, p.name, lengths[counter], n)
                    end
                    lengths[counter] = math.max(n, lengths[counter] or 0)
                end
            end
        end
        for i, p in ipairs(f.params) do
            if roles[i] == "length" then
                values[i] = lengths[i] or 0
            end
        end
        for i, p in ipairs(f.params) do
            if roles[i] == "out" then
                local counter = p.length and names[p.length]
                values[i], readers[i] = make_out(p, counter and tonumber(values[counter]) or nil)
            end
        end
        local returned = entry(unpack(values, 1, #f.params))
        if f.returns.type == "mxc_status" and returned ~= 0 then
            raise(returned)
        end
        local results, n, sizes = {}, 0, {}
        for i, p in ipairs(f.params) do
            if p.direction == "inout" and p.kind == "handle" and p.pointers == 2 then
                own_new_entries(p, arguments[i], values[i], tonumber(values[names[p.length]]))
            end
        end
        local has_result, result = result_of(f, returned)
        if has_result then
            n, results[1] = 1, result
        end
        for i, p in ipairs(f.params) do
            if roles[i] == "out" and p.pointers == 1 and p.kind == "integer" then
                sizes[p.name] = tonumber(values[i][0])
            end
        end
        for i in ipairs(f.params) do
            if readers[i] then
                n = n + 1
                results[n] = readers[i](sizes)
            end
        end
        settle(f, values, results, keepers)
        return unpack(results, 1, n)
    end
end

---- structs ---------------------------------------------------------------------------------------------------------

--- A struct with its defaults, and members from a table: arrays from tables (which set their length, too), texts, callbacks.
function M.new(name, fields)
    local s = structs[name] or structs["mxc_" .. name] or refuse("new: no struct is called '%s'", name)
    local object, keepers, set = ffi.new(s.name), {}, {}
    if given(s.init) then
        library[s.init](object, ffi.sizeof(s.name))
    elseif s.members[1].name == "size" then
        object.size = ffi.sizeof(s.name)
    end
    for _, m in ipairs(s.members) do
        local value = fields and fields[m.name]
        if value ~= nil then
            set[m.name] = true
            if m.array then
                for i, x in ipairs(value) do
                    object[m.name][i - 1] = x
                end
            else
                local n
                object[m.name], n = to_c(("%s: %s"):format(s.name, m.name), m, value, keepers)
                if type(value) == "table" and m.length and n then
                    object[m.length] = n
                end
            end
        end
    end
    for key in pairs(fields or {}) do
        if type(key) == "number" then -- positions, as in C
            object = ffi.new(s.name, fields)
            break
        elseif not set[key] then
            refuse("new: %s has no member '%s'", s.name, tostring(key))
        end
    end
    keep(object, "new", keepers)
    return object
end

--- The elements of an array that is a member of a struct, such as list(names, "items"), as a table.
function M.list(object, name)
    local s = structs[tostring(ffi.typeof(object)):match("struct ([%w_]+)")]
    for _, m in ipairs(s and s.members or {}) do
        if m.name == name then
            local out = {}
            for i = 1, tonumber(object[m.length]) do
                local x = object[name][i - 1]
                if m.base == "char" then
                    x = ffi.string(x)
                elseif m.pointers == 1 and m.kind ~= "struct" then
                    x = tonumber(x)
                end
                out[i] = x
            end
            return out
        end
    end
    refuse("list: no member '%s'", name)
end

---- loading ---------------------------------------------------------------------------------------------------------

local function read_json(paths)
    for _, path in ipairs(paths) do
        local file = io.open(path)
        if file then
            local text = file:read("*a")
            file:close()
            return json.decode(text)
        end
    end
    error("mxc: no description of the interface: " .. table.concat(paths, ", "), 0)
end

local function find_files()
    local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
    local api = os.getenv("LIBMXC_API")
    return api and { api } or { here .. "/../docs/reference/api.json", here .. "/../../mxc/api.json" },
        os.getenv("LIBMXC_LIBRARY") or "mxc"
end

local function strip(name)
    return (name:gsub("^mxc_", ""))
end

local function index(api)
    for list, by_name in pairs { functions = functions, structs = structs, callbacks = callbacks, handles = handles } do
        for _, entry in ipairs(api[list]) do
            by_name[entry.name] = entry
        end
    end
    -- json has null for what is not there
    for _, f in ipairs(api.functions) do
        for _, p in ipairs(f.params) do
            for key, value in pairs(p) do
                if value == json.null then
                    p[key] = nil
                end
            end
        end
    end
end

-- Methods: of each handle, the functions that begin with its name, and take it first.
local function add_methods(api)
    for _, h in ipairs(api.handles) do
        local methods = {}
        for _, f in ipairs(api.functions) do
            local short = f.name:match("^" .. h.name .. "_(.*)")
            if short and f.params[1] and f.params[1].base == h.name then
                methods[short] = M[strip(f.name)]
            end
        end
        ffi.metatype(h.name, { __index = methods })
    end
end

local function load(api, name)
    index(api)
    declare_all(api)
    library = ffi.load(name)
    for _, c in ipairs(api.constants) do
        M[c.name] = c.value
    end
    for _, e in ipairs(api.enums) do
        for _, v in ipairs(e.values) do
            M[v.name] = v.value
        end
    end
    for _, f in ipairs(api.functions) do
        if not f.variadic then
            M[strip(f.name)] = make_function(f)
        end
    end
    add_methods(api)
    M.api, M.C = api, library
end

-- Calls from compiled code must not come back to Lua, as callbacks do.
jit.off(true, true)

local paths, name = find_files()
load(read_json(paths), name)
return M
