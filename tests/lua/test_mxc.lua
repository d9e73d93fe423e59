-- SPDX-License-Identifier: Apache-2.0
-- The binding that docs/reference/api.json suffices for: test_mxc.lua, with LIBMXC_LIBRARY. Prints as cmocka does.
local ffi = require "ffi"
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../../lua/?.lua;" .. package.path
local mxc = require "mxc"

local tests, failed, passed = {}, {}, 0

local function test(name, fn)
    tests[#tests + 1] = { name, fn }
end

local function equal(found, expected)
    if found ~= expected then
        error(("expected %s, found %s"):format(tostring(expected), tostring(found)), 2)
    end
end

-- fn must raise an error of the library with this name, and a message that contains text.
local function raises(name, text, fn, ...)
    local ok, e = pcall(fn, ...)
    if ok or type(e) ~= "table" or e.name ~= name or not e.message:find(text, 1, true) then
        error(("expected %s with '%s', found %s"):format(name, text, ok and "no error" or tostring(e)), 2)
    end
    return e
end

local cpu = mxc.cpu(0)

local function from(numbers, dims)
    return mxc.ndarray_from_data(dims or { #numbers }, mxc.MXC_F32, ffi.new("float[?]", #numbers, numbers))
end

local function numbers(array)
    local n = tonumber(array:size())
    local buffer = ffi.new("float[?]", n)
    array:get(buffer)
    local out = {}
    for i = 1, n do
        out[i] = buffer[i - 1]
    end
    return table.concat(out, " ")
end

-- An operator by name: keys and values as text.
local function op(name, inputs, keys, values)
    return mxc.invoke(name, inputs, keys or {}, values or {}, 1)[1]
end

---- the description -------------------------------------------------------------------------------------------------

test("types are those of the library", function()
    local n = 0
    for _, s in ipairs(mxc.api.structs) do
        equal(ffi.sizeof(s.name), s.size)
        equal(ffi.alignof(s.name), s.alignment)
        for _, m in ipairs(s.members) do
            equal(ffi.offsetof(s.name, m.name), m.offset)
            n = n + 1
        end
    end
    assert(n > 300, n)
    for _, e in ipairs(mxc.api.enums) do
        for _, v in ipairs(e.values) do
            equal(tonumber(ffi.C[v.name]), v.value)
        end
    end
end)

test("every function is there", function()
    local n = 0
    for _, f in ipairs(mxc.api.functions) do
        assert(mxc.C[f.name] ~= nil, f.name)
        assert(f.variadic or mxc[f.name:gsub("^mxc_", "")], f.name)
        n = n + 1
    end
    assert(n > 300, n)
    equal(mxc.version(), mxc.MXC_VERSION)
end)

---- arrays ----------------------------------------------------------------------------------------------------------

test("arrays", function()
    local a = from({ 1, 2, 3, 4, 5, 6 }, { 2, 3 })
    equal(tonumber(a:shape().dim[1]), 3)
    equal(a:dtype(), mxc.MXC_F32)
    equal(a:context().device, mxc.MXC_CPU)
    equal(select(2, a:device()), 0)
    equal(numbers(a:at(1)), "4 5 6")
    equal(numbers(a:slice(0, 1):reshape({ 3, -1 })), "1 2 3")
    assert(a:print():find("(2,3) float32", 1, true))
    a:fill(7)
    local b = a:copy(cpu, mxc.MXC_F32)
    equal(numbers(b), "7 7 7 7 7 7")
    equal(ffi.cast("float *", a:data())[5], 7)
    equal(mxc.dtype_name(mxc.MXC_F16), "float16")
    equal(mxc.context_format(cpu, 16), "cpu(0)")
end)

test("objects are released once, by their owner", function()
    collectgarbage() -- what earlier tests have left
    mxc.wait_all(mxc.engine_default())
    local before = tonumber(mxc.storage_get_stats(cpu).bytes_in_use)
    for _ = 1, 50 do
        local a = mxc.ndarray_create({ 1000 }, mxc.MXC_F32, cpu)
        a:fill(1)
        local again = a:retain()
        a = again:reshape({ 10, 100 })
    end
    collectgarbage()
    collectgarbage()
    mxc.wait_all(mxc.engine_default())
    equal(tonumber(mxc.storage_get_stats(cpu).bytes_in_use), before)
end)

test("errors have a status and a message", function()
    local a = from { 1, 2 }
    local e = raises("MXC_ESHAPE", "(3,)", a.reshape, a, { 3 })
    equal(e.status, mxc.MXC_ESHAPE)
    assert(e.place:find(":", 1, true))
    assert(tostring(e):find("^MXC_ESHAPE: "))
    raises("MXC_ENOTFOUND", "no_such", op, "no_such", { a })
    raises("MXC_EINVAL", "mxc_ndarray_copy_to: to must not be nil", a.copy_to, a, nil, 0)
    raises("MXC_EINVAL", "mxc_symbol_variable: name must not be nil", mxc.symbol_variable)
    raises("MXC_EINVAL", "expected 1 entries, found 2", mxc.kvstore_push, mxc.kvstore_create("local"), { "a" }, { a, a }, 0)
    raises("MXC_EINVAL", "no member 'contxt'", mxc.new, "bind_options", { contxt = cpu })
end)

test("operators", function()
    local a, b = from { 1, 2 }, from { 3, 4 }
    equal(numbers(op("broadcast_add", { a, b })), "4 6")
    equal(numbers(op("_mul_scalar", { a }, { "scalar" }, { "2" })), "2 4")
    local parts = mxc.invoke("SliceChannel", { a }, { "num_outputs", "axis" }, { "2", "0" }, 2)
    equal(numbers(parts[2]), "2")
    mxc.invoke_into("relu", { a }, {}, {}, { b })
    equal(numbers(b), "1 2")
    local made = mxc.op_create("sum", { "axis" }, { "0" })
    local out = { n = 1 }
    made:invoke({ a }, out, nil, 0)
    equal(numbers(out[1]), "3")
    equal(made:arg_name(0, 32), "data")
    equal(select(2, made:given(0)), "0")
    local def = mxc.op_find("Convolution")
    equal(ffi.string(def.args), "data,weight,bias")
    assert(mxc.op_describe("relu"):find("max"))
    equal(mxc.op_find("no_such"), nil)
end)

---- symbols, executors, gradients -----------------------------------------------------------------------------------

test("symbols and executors", function()
    local x, w = mxc.symbol_variable("x"), mxc.symbol_variable("w")
    local y = mxc.symbol_op("elemwise_mul", "y", {}, {}, nil, { x, w })
    local names = y:list_arguments()
    equal(table.concat(mxc.list(names, "items"), " "), "x w")
    equal(tonumber(mxc.names_find(names, "w")), 1)
    local copy = mxc.symbol_from_json(y:to_json())
    equal(copy:name(), "y")
    equal(copy:attr("no_such"), nil)
    local shape = mxc.shape_set({ 2 })
    local inferred = y:infer({ "x" }, { shape }, { mxc.MXC_F32 })
    equal(inferred.complete, 1)
    equal(tonumber(inferred.output_shapes[0].dim[0]), 2)
    local spec = mxc.new("bind_spec", { names = { "x" }, shapes = { shape }, req = mxc.MXC_REQ_WRITE })
    equal(tonumber(spec.n), 1)
    local executor = mxc.executor_simple_bind(y, mxc.new("bind_options", { context = cpu }), spec)
    executor:find_arg("x"):fill(3)
    executor:find_arg("w"):fill(4)
    executor:forward(1)
    equal(numbers(executor:output(0)), "12 12")
    executor:backward({ from { 1, 10 } })
    equal(numbers(executor:find_grad("w")), "3 30")
    equal(executor:output(1), nil)
end)

test("gradients", function()
    local x = from { 1, 2, 3 }
    x:fill(2)
    mxc.autograd_attach(x, mxc.MXC_REQ_WRITE, nil)
    local scope = mxc.autograd_record(1)
    local y = op("square", { x })
    mxc.autograd_leave(scope)
    mxc.autograd_backward({ y }, nil, nil)
    equal(numbers(mxc.autograd_grad(x)), "4 4 4")
    raises("MXC_ESTATE", "", mxc.autograd_backward, { y }, nil, nil)
    scope = mxc.autograd_record(1)
    y = op("square", { x })
    mxc.autograd_leave(scope)
    local grads = mxc.autograd_gradients({ y }, nil, { x }, mxc.new("backward_options", { retain_graph = 1 }))
    equal(numbers(grads[1]), "4 4 4")
end)

---- callbacks, ownership --------------------------------------------------------------------------------------------

test("callbacks on the calling thread", function()
    local store = mxc.kvstore_create("local")
    local seen
    store:set_updater(function(key, sum, stored)
        seen = key
        if key == "bad" then
            error("no such key")
        end
        mxc.invoke_into("elemwise_add", { stored, sum }, {}, {}, { stored })
    end)
    store:init({ "w", "bad" }, { from { 1, 1 }, from { 1 } })
    collectgarbage()
    store:push({ "w", "w" }, { from { 1, 2 }, from { 1, 2 } }, 0)
    local out = from { 0, 0 }
    store:pull({ "w" }, { out }, 0)
    equal(numbers(out), "3 5")
    equal(seen, "w")
    raises("MXC_EUSER", "no such key", store.push, store, { "bad" }, { from { 1 } }, 0)
    local metric = mxc.metric_create_own("largest", 1, function(label, prediction, pad, state)
        state[0] = math.max(state[0], tonumber(prediction:size()))
    end, function(state)
        return state[0]
    end, nil, 1)
    metric:update(from { 0 }, from { 1, 2, 3 }, 0)
    equal(metric:value(), 3)
    equal(metric:name(), "largest")
end)

test("callbacks are freed with what called them", function()
    local store = mxc.kvstore_create("local")
    local w, calls = from { 0 }, 0
    store:init({ "w" }, { w })
    for _ = 1, 3000 do -- the FFI has room for fewer
        store:set_updater(function()
            calls = calls + 1
        end)
    end
    collectgarbage()
    store:push({ "w" }, { w }, 0)
    equal(calls, 1)
    local x = from { 1, 2 }
    mxc.autograd_attach(x, mxc.MXC_REQ_WRITE, nil)
    local function twice()
        local y = op("_mul_scalar", { x }, { "scalar" }, { "2" })
        local scope = mxc.autograd_record(1)
        mxc.autograd_function("twice", { x }, { y }, function(n_out, out_grad, n_in, in_grad)
            mxc.invoke_into("_mul_scalar", { out_grad[0] }, { "scalar" }, { "20" }, { in_grad[0] })
        end, nil, nil)
        mxc.autograd_leave(scope)
        return y
    end
    local y = twice()
    collectgarbage()
    mxc.autograd_backward({ y }, nil, nil)
    equal(numbers(mxc.autograd_grad(x)), "20 20")
end)

test("callbacks on other threads are refused", function()
    raises("MXC_EINVAL", "mxc_set_logger: fn: is called on other threads", mxc.set_logger, function() end)
    local x = mxc.symbol_variable("x")
    local executor = mxc.executor_simple_bind(
        mxc.symbol_op("relu", nil, {}, {}, nil, { x }),
        nil,
        mxc.new("bind_spec", { names = { "x" }, shapes = { mxc.shape_set({ 1 }) } })
    )
    raises("MXC_EINVAL", "other threads", executor.set_monitor, executor, function() end)
    executor:set_monitor(nil)
end)

test("what a call takes over is not released here", function()
    local data = from({ 1, 2, 3, 4 }, { 4, 1 })
    local inner = mxc.iter_from_arrays(mxc.new("array_iter_options", { batch_size = 2 }), { data }, {}, nil)
    local outer = mxc.iter_prefetch(inner, 2)
    inner = nil
    collectgarbage()
    local batch = outer:next()
    equal(numbers(batch.data[0]), "1 2")
    equal(table.concat(mxc.list(batch, "index"), " "), "0 1")
    outer:next()
    equal(outer:next().n_data, 0)
end)

test("training with a callback, files, prediction", function()
    local network = mxc.symbol_op("FullyConnected", "fc", { "num_hidden" }, { "1" }, nil, { mxc.symbol_variable("data") })
    network = mxc.symbol_op("LinearRegressionOutput", "out", {}, {}, nil, { network })
    local x, y = {}, {}
    for i = 1, 64 do
        x[i] = i / 64
        y[i] = 2 * x[i] + 1
    end
    local data = from(x, { 64, 1 })
    local iter =
        mxc.iter_from_arrays(mxc.new("array_iter_options", { batch_size = 16 }), { data }, { from(y, { 64, 1 }) }, { "data", "out_label" })
    local epochs = 0
    local options = mxc.new("fit_options", {
        symbol = network,
        train = iter,
        epochs = 60,
        learning_rate = 0.5,
        callback = function(progress, epoch_end)
            epochs = epochs + epoch_end
        end,
    })
    local progress, params = mxc.fit(options)
    equal(epochs, 60)
    equal(tonumber(progress.epochs), 60)
    assert(progress.loss < 1e-3, progress.loss)
    local path = os.tmpname()
    os.remove(path)
    mxc.model_save(path, 1, network, { params.arrays[0], params.arrays[1] }, mxc.list(params, "names"))
    local desc = mxc.new("data_desc", { name = "data", shape = mxc.shape_set({ 1, 1 }), dtype = mxc.MXC_F32 })
    local predictor = mxc.predictor_load(path, 1, { desc }, nil)
    os.remove(path .. "-symbol.json")
    os.remove(path .. "-0001.params")
    predictor:set_input("data", ffi.new("float[1]", 3))
    predictor:forward()
    local out = ffi.new("float[1]")
    predictor:get_output("out_output", out)
    assert(math.abs(out[0] - 7) < 0.3, out[0])
    raises("MXC_ENOTFOUND", "", predictor.set_input, predictor, "absent", out)
    options.epochs = 1
    options.callback = nil
    mxc.fit(options)
end)

test("records and images", function()
    local path = os.tmpname()
    local writer = mxc.record_writer_open(path, nil)
    writer:write(1, "some bytes")
    writer:close()
    local reader = mxc.record_reader_open(path, 0, 1, mxc.MXC_BAD_ERROR)
    local record = reader:next()
    equal(ffi.string(record.data, record.bytes), "some bytes")
    equal(reader:next().data, nil)
    os.remove(path)
    local pixels = ffi.new("uint8_t[4]", { 0, 255, 0, 255 })
    local image = mxc.new("image", { height = 2, width = 2, channels = 1, pixels = pixels })
    local ok, png = pcall(mxc.image_encode_png, image)
    if ok then -- built with libpng
        local back = mxc.image_decode("test", png, 0, 0)
        equal(back.pixels[3], 255)
    end
    equal(tonumber(mxc.image_resize(image, 4, 4, 0).width), 4)
end)

for _, t in ipairs(tests) do
    print("[ RUN      ] " .. t[1])
    local ok, e = xpcall(t[2], function(e)
        return type(e) == "table" and e or debug.traceback(e, 2)
    end)
    if ok then
        passed = passed + 1
        print("[       OK ] " .. t[1])
    else
        failed[#failed + 1] = t[1]
        print(tostring(e))
        print("[  FAILED  ] " .. t[1])
    end
end
print(("[==========] %d test(s) run."):format(#tests))
print(("[  PASSED  ] %d test(s)."):format(passed))
os.exit(#failed == 0 and 0 or 1, true)
