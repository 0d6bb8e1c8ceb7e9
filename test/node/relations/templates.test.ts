import { expect, it } from "vitest";
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
