import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const FILES = {
  "tasks.py":
    "@shared_task\ndef send(to): pass\n\n@app.task(bind=True)\ndef resize(self): pass\n\nclass Queue:\n    def delay(self): pass\n",
  "app.py": [
    "import tasks",
    "from tasks import send, resize, Queue",
    "def f(queue):",
    "    send.delay(1)", // 4
    "    tasks.send.apply_async(args=[1])",
    "    chain = send.si(1) | resize.s()", // 6
    "    send.name",
    "    send.other(1)", // 8
    "    queue.delay()",
    "    Queue.delay(queue)", // 10
  ].join("\n"),
};

it.each([
  ["send", ["app.py:4 certain", "app.py:5 certain", "app.py:6 certain"]],
  ["resize", ["app.py:6 certain"]],
  ["Queue", []],
])("the function %s is named by what its decorator makes of it", async (name, callers) => {
  expect(await callersOf(FILES, name)).toEqual(callers);
});
