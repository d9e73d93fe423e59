# SPDX-License-Identifier: Apache-2.0
"""Runs operator cases in MXNet: make.py QUESTIONS OUT. See make.sh.

QUESTIONS/cases.txt has a line for each case: number, operator, parameters, counts of arguments, auxiliary states and
visible outputs, 1 for training, a checksum of the inputs, the case's name, the order in which arguments and states are
passed; inputs.params has "NUMBER:in0" and so on.
OUT/cases.txt keeps name, number and checksum of the cases that MXNet answers, OUT/golden.params the answers. Cases run in
processes of their own, for MXNet ends the process on some of them; first by MXNet's own operators, and where these refuse,
by those of MKL-DNN.
"""
import json
import multiprocessing
import os
import re
import sys


PER_PROCESS = 40
NOT_ASKED = {
    "_contrib_SyncBatchNorm",  # waits for other devices
    "_contrib_BatchNormWithReLU",  # ends the process
    "_contrib_quantize_asym",  # the same
}


# Their shapes do not follow in graphs, since they are not inferred from outputs to inputs; as array functions they work.
BY_ARRAYS = re.compile("(preloaded|_)?_?multi_.*update$")


class Case:
    def __init__(self, line):
        f = line.rstrip("\n").split("\t")
        self.number, self.op, self.key, self.checksum = int(f[0]), f[1], f[8], f[7]
        self.params = dict(item.split("=", 1) for item in f[2].split())
        for key, value in self.params.items():
            self.params[key] = re.sub(r"^\(([^,()]+)\)$", r"(\1,)", value)
        self.n_in, self.n_aux, self.n_visible, self.train = map(int, f[3:7])
        self.order = [int(i) for i in f[9].split(",") if i]


def symbol_of(case):
    n = case.n_in + case.n_aux
    nodes = [{"op": "null", "name": "in%d" % i, "inputs": []} for i in range(n)]
    nodes.append({"op": case.op, "name": "op", "attrs": case.params, "inputs": [[i, 0, 0] for i in case.order]})
    heads = [[n, i, 0] for i in range(case.n_visible)]
    return mx.sym.load_json(json.dumps({"nodes": nodes, "arg_nodes": list(range(n)), "heads": heads,
                                        "node_row_ptr": list(range(n + 2)), "attrs": {"mxnet_version": ["int", 10901]}}))


def gradients(symbol, args, aux, heads, train):
    grads = {name: mx.nd.zeros_like(value) for name, value in args.items()}
    executor = symbol.bind(mx.cpu(), args, args_grad=grads, aux_states=aux)
    executor.forward(is_train=True)
    executor.backward(heads)
    return {int(name[2:]): value.asnumpy() for name, value in grads.items()}


def run(case, arrays):
    """Answers by name; raises where MXNet refuses."""
    def array(kind, i):
        return arrays["%d:%s%d" % (case.number, kind, i)].copy()
    if case.op == "_cvimdecode":  # not for graphs
        return {"%d:out0" % case.number: mx.nd._internal._cvimdecode(array("in", 0), **case.params).asnumpy()}
    if BY_ARRAYS.match(case.op):
        given = [array("in", i) for i in range(case.n_in)] + [array("aux", i) for i in range(case.n_aux)]
        function = getattr(mx.nd._internal if case.op.startswith("_") else mx.nd, case.op)
        out = [mx.nd.zeros_like(given[2 * i]) for i in range(case.n_visible)]
        function(*[given[i] for i in case.order], out=out, **case.params)
        return {"%d:out%d" % (case.number, i): value.asnumpy() for i, value in enumerate(out)}
    symbol = symbol_of(case)
    given = {"in%d" % i: array("in", i) for i in range(case.n_in)}
    given.update({"in%d" % (case.n_in + i): array("aux", i) for i in range(case.n_aux)})
    args = {name: given[name] for name in symbol.list_arguments()}
    aux = {name: given[name] for name in symbol.list_auxiliary_states()}
    executor = symbol.bind(mx.cpu(), args, aux_states={k: v.copy() for k, v in aux.items()}, grad_req="null")
    outputs = executor.forward(is_train=bool(case.train))
    answers = {"%d:out%d" % (case.number, i): out.asnumpy() for i, out in enumerate(outputs)}
    if "%d:head0" % case.number in arrays:
        heads = [array("head", i) for i in range(case.n_visible)]
        try:
            for i, grad in gradients(symbol, args, aux, heads, case.train).items():
                answers["%d:grad%d" % (case.number, i)] = grad
        except mx.base.MXNetError:
            pass  # no gradient there
    return answers


def work(path, cases, mkldnn, queue):
    global mx
    os.environ["MXNET_MKLDNN_ENABLED"] = mkldnn
    import mxnet as mx
    arrays = mx.nd.load(path)
    for case in cases:
        queue.put(("begin", case.number, None))
        try:
            queue.put(("answer", case.number, run(case, arrays)))
        except Exception as error:
            queue.put(("refused", case.number, str(error).strip().split("\n")[0]))
    queue.put(("end", None, None))


def receive(queue, process):
    """The next message, or that there will be none."""
    for _ in range(300):
        try:
            return queue.get(timeout=0.2)
        except Exception:
            if not process.is_alive() and queue.empty():
                break
    return "dead", None, None


def run_all(path, cases, mkldnn):
    """Yields (case, answers or None, why not)."""
    by_number = {case.number: case for case in cases}
    while cases:
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        process = context.Process(target=work, args=(path, cases[:PER_PROCESS], mkldnn, queue))
        process.start()
        done, current = 0, None
        while True:
            kind, number, value = receive(queue, process)
            if kind == "begin":
                current = number
                continue
            if kind in ("end", "dead"):
                break
            done += 1
            yield by_number[number], value if kind == "answer" else None, value if kind == "refused" else None
            current = None
        process.terminate()
        process.join()
        if kind == "dead":
            yield by_number[current if current is not None else cases[done].number], None, "the process ended"
            done += 1
        cases = cases[done:]


def main(questions, out):
    with open(os.path.join(questions, "cases.txt")) as file:
        cases = [case for case in map(Case, file) if case.op not in NOT_ASKED]
    kept, lines, refused, left = {}, [], {}, cases
    for mkldnn in "0", "1":
        refused, asked, left = {}, left, []
        for case, answers, why in run_all(os.path.join(questions, "inputs.params"), asked, mkldnn):
            if answers is None:
                left.append(case)
                refused.setdefault(case.op, []).append((case.key, why))
                continue
            lines.append("%s\t%d\t%s\n" % (case.key, case.number, case.checksum))
            kept.update(answers)
    import mxnet as mx
    kept = {name: mx.nd.array(kept[name], dtype=kept[name].dtype) for name in sorted(kept)}
    mx.nd.save(os.path.join(out, "golden.params"), kept)
    with open(os.path.join(out, "cases.txt"), "w") as file:
        file.writelines(sorted(lines))
    answered = {line.split("(")[0] for line in lines}
    for op, list_ in sorted(refused.items()):
        mark = " " if op in answered else "!"
        print("%s %s: %d refused, e.g. %s: %s" % (mark, op, len(list_), list_[0][0], list_[0][1]))
    print("%d of %d cases answered" % (len(lines), len(cases)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
