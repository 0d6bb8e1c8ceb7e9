/**
 * A model without a model: whatever it is asked, it calls the first tool whose name ends with `find_symbol`, and then repeats what the tool
 * answered. Where the host connects to its servers meanwhile and has a tool to wait for them, it calls that one first. Speaks the streaming forms of Anthropic's Messages, OpenAI's Chat Completions and Responses, and Gemini's generateContent.
 */
import { createServer } from "node:http";

const TOOL = /find_symbol$/;
const WAIT = /^WaitForMcpServers$/;

/** Starts the server. `asked` holds the names of the tools that were offered, `answers` what the tool answered. */
export async function startModel(symbol) {
  const seen = { asked: new Set(), answers: [], paths: new Set() };
  let isAsked = false;
  const handle = async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    seen.paths.add(`${request.method} ${request.url}`);
    const json = body.startsWith("{") ? JSON.parse(body) : {};
    const form = FORMS.find(({ path }) => path.test(request.url ?? ""));
    if (!form || request.method !== "POST") return response.writeHead(404).end("{}");
    const names = form.tools(json);
    for (const name of names) seen.asked.add(name);
    const results = form.results(json);
    for (const result of results) seen.answers.push(result);
    const tool = names.find((name) => TOOL.test(name));
    const wait = names.find((name) => WAIT.test(name));
    let call;
    if (tool !== undefined && !isAsked) call = { tool, input: { name: symbol } };
    else if (tool === undefined && wait !== undefined && results.length < 3) call = { tool: wait, input: {} };
    isAsked ||= call?.tool === tool && tool !== undefined;
    const text = call ? "" : (results.at(-1) ?? "No tool was offered.");
    response.writeHead(200, { "Content-Type": json.stream === false ? "application/json" : "text/event-stream" });
    response.end(form.answer({ call, text, json }));
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, seen, close: () => server.close() };
}

const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("\n");
const events = (list) => list.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
const chunks = (list) => `${list.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")}`;

const FORMS = [
  {
    path: /^\/v1\/messages(?:\?|$)/,
    tools: ({ tools = [] }) => tools.map(({ name }) => name),
    results: ({ messages = [] }) =>
      messages.flatMap(({ content }) =>
        Array.isArray(content)
          ? content.filter(({ type }) => type === "tool_result").map(({ content: inner }) => textOf(inner))
          : [],
      ),
    answer: ({ call, text, json }) => {
      const usage = { input_tokens: 1, output_tokens: 1 };
      const block = call
        ? { type: "tool_use", id: "toolu_1", name: call.tool, input: call.input }
        : { type: "text", text };
      const stop = call ? "tool_use" : "end_turn";
      const message = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_sequence: null, usage };
      if (json.stream !== true) return JSON.stringify({ ...message, content: [block], stop_reason: stop });
      const delta = call
        ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
        : { type: "text_delta", text };
      return events([
        ["message_start", { message: { ...message, content: [], stop_reason: null } }],
        ["content_block_start", { index: 0, content_block: call ? { ...block, input: {} } : { ...block, text: "" } }],
        ["content_block_delta", { index: 0, delta }],
        ["content_block_stop", { index: 0 }],
        ["message_delta", { delta: { stop_reason: stop, stop_sequence: null }, usage }],
        ["message_stop", {}],
      ]).join("");
    },
  },
  {
    path: /\/chat\/completions$/,
    tools: ({ tools = [] }) => tools.map((tool) => tool.function?.name ?? ""),
    results: ({ messages = [] }) =>
      messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content)),
    answer: ({ call, text }) => {
      const tool_calls = call && [
        {
          index: 0,
          id: "call_1",
          type: "function",
          function: { name: call.tool, arguments: JSON.stringify(call.input) },
        },
      ];
      const chunk = (delta, finish_reason = null) => ({
        id: "c1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta, finish_reason }],
      });
      const first = chunk({ role: "assistant", content: call ? null : text, ...(call && { tool_calls }) });
      return `${chunks([first, chunk({}, call ? "tool_calls" : "stop")])}data: [DONE]\n\n`;
    },
  },
  {
    path: /\/responses$/,
    // A server's tools may come as a group of its name.
    tools: ({ tools = [] }) =>
      tools.flatMap(({ name = "", tools: inner = [] }) => [name, ...inner.map((one) => `${name}\u0000${one.name}`)]),
    results: ({ input = [] }) =>
      (Array.isArray(input) ? input : [])
        .filter(({ type }) => type === "function_call_output")
        .map(({ output }) => textOf(output)),
    answer: ({ call, text }) => {
      const [group, name] = (call?.tool ?? "").split("\u0000");
      const item = call
        ? {
            type: "function_call",
            id: "fc_1",
            call_id: "call_1",
            ...(name === undefined ? { name: group } : { namespace: group, name }),
            arguments: JSON.stringify(call.input),
          }
        : { type: "message", id: "m_1", role: "assistant", content: [{ type: "output_text", text }] };
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      return events([
        ["response.created", { response: { id: "r_1" } }],
        ["response.output_item.done", { output_index: 0, item }],
        ["response.completed", { response: { id: "r_1", output: [item], usage } }],
      ]).join("");
    },
  },
  {
    path: /[gG]enerateContent/,
    tools: ({ tools = [] }) => tools.flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)),
    results: ({ contents = [] }) =>
      contents.flatMap(({ parts = [] }) =>
        parts.filter((part) => part.functionResponse).map((part) => JSON.stringify(part.functionResponse.response)),
      ),
    answer: ({ call, text }) => {
      const part = call ? { functionCall: { name: call.tool, args: call.input } } : { text };
      const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
      return chunks([
        { candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }], usageMetadata },
      ]);
    },
  },
];
