import { expect, it } from "vitest";
import { CalleesFinder } from "../../../src/interface/questions/relations/callees.ts";
import { importersOf } from "../../../src/interface/questions/relations/importers.ts";
import { callersIn, indexOf } from "./support.ts";

it("parts of Go's templates have callers by their whole name, also in files of data", async () => {
  const files = {
    "chart/templates/_helpers.tpl":
      '{{- define "shop.fullname" -}}\n{{ .Release.Name }}\n{{- end }}\n\n{{- define "other.fullname" -}}\nx\n{{- end }}\n{{- define "marks" -}}\napp: {{ include "shop.fullname" . }}\n{{- end }}\n',
    "chart/templates/service.yaml":
      'name: {{ include "shop.fullname" . }}\nlabels: {{- include "marks" . | nindent 4 }}\nfullname: fullname(1)\n',
    "chart/templates/NOTES.txt": 'Call {{ template "other.fullname" . }} or fullname(2).\n',
  };
  expect(await callersIn(files, ["shop.fullname", "other.fullname", "marks"])).toEqual({
    "shop.fullname": ["chart/templates/_helpers.tpl:9 name", "chart/templates/service.yaml:1 name"],
    "other.fullname": ["chart/templates/NOTES.txt:1 name"],
    marks: ["chart/templates/service.yaml:2 name"],
  });
});

it("macros of Jinja in SQL and HTML have callers, and models of dbt what refers to them", async () => {
  const files = {
    "macros/cents.sql": "{% macro cents_to_dollars(column) -%}\n  ({{ column }} / 100)\n{%- endmacro %}\n",
    "models/staging/stg_orders.sql": "select {{ cents_to_dollars('total') }} from raw\n",
    "models/orders.sql": "select * from {{ ref('stg_orders') }}\njoin stg_orders\n",
    "models/orders.yml": "models:\n  - name: orders\n    tests:\n      - to: ref(\"shop\", 'stg_orders')\n",
    "templates/_fields.html": "{% macro field(value) %}\n<input>\n{% endmacro %}\n",
    "templates/page.html": '{% from "_fields.html" import field %}\n{{ field(name) }}\n',
  };
  expect(await callersIn(files, ["cents_to_dollars", "field"])).toEqual({
    cents_to_dollars: ["models/staging/stg_orders.sql:1 name"],
    field: ["templates/page.html:2 name"],
  });
  const importers = await importersOf(await indexOf(files), "models/staging/stg_orders.sql");
  expect(importers.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`)).toEqual([
    "models/orders.sql:1 name",
    "models/orders.yml:4 name",
  ]);
});

it("parts of Go's templates end with their blocks, and call what they include", async () => {
  const files = {
    "base.tmpl":
      '{{ define "title" }}T{{ end }}\n<body>{{ template "nav" . }}</body>\n{{ define "nav" }}\n{{ if .A }}\n{{ template "title" . }}\n{{ end }}\n{{ end }}\n<p>{{ template "title" }}</p>\n',
    "page.pug": "mixin plain\n  p x\n+plain\n",
    "card.hbs": '{{#*inline "box"}}b{{/inline}}\n{{> box}}\n',
  };
  const index = await indexOf(files);
  const ranges = (await index.definitionsIn("base.tmpl")).map(
    ({ name, startLine, endLine }) => `${name} ${startLine}-${endLine}`,
  );
  expect(ranges).toEqual(["title 1-1", "nav 3-7"]);
  const nav = await index.described(await index.definitions("nav"));
  const called = await new CalleesFinder(index).find(nav, 1);
  expect(called.map(({ path, line }) => `${path}:${line}`)).toEqual(["base.tmpl:5"]);
  expect(await callersIn(files, ["nav", "plain", "box"])).toEqual({
    nav: ["base.tmpl:2 name"],
    plain: ["page.pug:3 name"],
    box: ["card.hbs:2 name"],
  });
});
