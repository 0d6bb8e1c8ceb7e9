import { expect, it } from "vitest";
import { callersIn } from "./support.ts";

it("functions of C++ that are named without being called are used in tables and as arguments, methods behind `&`", async () => {
  const files = {
    "window.h":
      "#pragma once\nclass Window {\n public:\n  void save();\n  void open();\n  static bool less(int a, int b);\n  int total;\n  void title();\n};\n",
    "window.cpp": [
      '#include "window.h"',
      '#include "free.h"',
      "void Window::save() {",
      "  connect(button, &Button::clicked, this, &Window::open);", // 4
      "  std::sort(a, b, Window::less);",
      "  std::thread t(worker); run(given, total, Kind::title, [this](int given) { use(given); });", // 6
      "}",
      "void Window::open() { auto f = cond ? worker : other; bind(&Window::save, this); }", // 8
      "bool Window::less(int a, int b) { return a < b; }",
      "void Window::title() {}",
      'static const Command commands[] = { { "x", worker } };', // 11
    ].join("\n"),
    "free.h": "void worker();\nint given(int a);\nint total(int a);\n",
    "free.cpp": '#include "free.h"\nvoid worker() {}\nint given(int a) { return a; }\nint total(int a) { return a; }\n',
  };
  const names = ["Window::open", "Window::save", "Window::less", "Window::title", "worker", "total"];
  expect(await callersIn(files, names)).toEqual({
    "Window::open": ["window.cpp:4 likely"],
    "Window::save": ["window.cpp:8 likely"],
    "Window::less": ["window.cpp:5 likely"],
    "Window::title": [],
    worker: ["window.cpp:11 likely", "window.cpp:6 likely", "window.cpp:8 likely"],
    // A field has its name.
    total: [],
  });
});
