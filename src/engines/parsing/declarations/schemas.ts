import type { DeclarationRules } from "./rules.ts";

/** Schemas, configurations and builds. By the id of the language. */
export const SCHEMAS: Readonly<Record<string, DeclarationRules>> = {
  protobuf: {
    patterns: [
      [/^\s*message\s+(\w+)/, "struct"],
      [/^\s*enum\s+(\w+)/, "enum"],
      [/^\s*service\s+(\w+)/, "interface"],
      [/^\s*extend\s+([\w.]+)/, "extension"],
      [/^\s*rpc\s+(\w+)/, "method"],
    ],
  },
  graphql: {
    patterns: [
      [/^\s*(?:extend\s+)?(?:type|input)\s+(\w+)/, "struct"],
      [/^\s*(?:extend\s+)?interface\s+(\w+)/, "interface"],
      [/^\s*(?:extend\s+)?enum\s+(\w+)/, "enum"],
      [/^\s*(?:extend\s+)?union\s+(\w+)/, "union"],
      [/^\s*scalar\s+(\w+)/, "type"],
      [/^\s*directive\s+(@\w+)/, "macro"],
      [/^\s*(?:query|mutation|subscription|fragment)\s+(\w+)/, "function"],
    ],
  },
  thrift: {
    patterns: [
      [/^\s*(?:struct|exception)\s+(\w+)/, "struct"],
      [/^\s*union\s+(\w+)/, "union"],
      [/^\s*enum\s+(\w+)/, "enum"],
      [/^\s*service\s+(\w+)/, "interface"],
      [/^\s*typedef\s+\S+\s+(\w+)/, "type"],
      [/^\s*const\s+\S+\s+(\w+)/, "constant"],
      [/^\s+(?:oneway\s+)?[\w.<>,][\w.<>, ]{0,99}\s(\w+)\s*\(/, "method"],
    ],
  },
  prisma: {
    patterns: [
      [/^(?:model|type)\s+(\w+)/, "struct"],
      [/^view\s+(\w+)/, "view"],
      [/^enum\s+(\w+)/, "enum"],
      [/^(?:datasource|generator)\s+(\w+)/, "object"],
    ],
  },
  terraform: {
    patterns: [
      [/^(?:resource|ephemeral)\s+"([\w-]+)"\s+"([\w-]+)"/, "object"],
      [/^(data)\s+"([\w-]+)"\s+"([\w-]+)"/, "object"],
      [/^(module)\s+"([\w-]+)"/, "object"],
      [/^(?:variable|output)\s+"([\w-]+)"/, "variable"],
      [/^provider\s+"([\w-]+)"/, "object"],
    ],
  },
  cmake: {
    patterns: [
      [/^\s*function\s*\(\s*(\w+)/i, "function"],
      [/^\s*macro\s*\(\s*(\w+)/i, "macro"],
      [/^\s*add_(?:executable|library|custom_target)\s*\(\s*([\w.${}:-]+)/i, "target"],
    ],
  },
  gherkin: {
    patterns: [
      [/^\s*(?:Feature|Rule|Background|Scenario(?: Outline| Template)?|Example|Examples)\s*:\s*(\S.*)/, "heading"],
    ],
  },
  bicep: {
    patterns: [
      [/^\s*(?:resource|module)\s+(\w+)/, "object"],
      [/^\s*(?:param|var|output)\s+(\w+)/, "variable"],
      [/^(?:@\w+\([^)]*\)\s*)?func\s+(\w+)/, "function"],
      [/^type\s+(\w+)/, "type"],
    ],
  },
  flatbuffers: {
    patterns: [
      [/^\s*namespace\s+([\w.]+)/, "namespace"],
      [/^\s*(?:table|struct)\s+(\w+)/, "struct"],
      [/^\s*enum\s+(\w+)/, "enum"],
      [/^\s*union\s+(\w+)/, "union"],
      [/^\s*rpc_service\s+(\w+)/, "interface"],
    ],
  },
  capnproto: {
    patterns: [
      [/^\s*struct\s+(\w+)/, "struct"],
      [/^\s*interface\s+(\w+)/, "interface"],
      [/^\s*enum\s+(\w+)/, "enum"],
      [/^\s*(\w+)\s*@\d+\s*\(/, "method"],
      [/^\s*const\s+(\w+)/, "constant"],
    ],
  },
  smithy: {
    separator: "#",
    patterns: [
      [/^service\s+(\w+)/, "interface"],
      [/^(?:operation|resource)\s+(\w+)/, "function"],
      [/^(?:structure|union|list|map)\s+(\w+)/, "struct"],
      [/^(?:enum|intEnum)\s+(\w+)/, "enum"],
      [/^(?:string|integer|long|boolean|blob|timestamp|double|float|document)\s+(\w+)/, "type"],
    ],
  },
  typespec: {
    patterns: [
      [/^\s*namespace\s+([\w.]+)/, "namespace"],
      [/^\s*interface\s+(\w+)/, "interface"],
      [/^\s*model\s+(\w+)/, "struct"],
      [/^\s*(?:enum)\s+(\w+)/, "enum"],
      [/^\s*union\s+(\w+)/, "union"],
      [/^\s*(?:alias|scalar)\s+(\w+)/, "type"],
      [/^\s*op\s+(\w+)/, "function"],
    ],
  },
  wit: {
    patterns: [
      [/^\s*(?:world|interface)\s+([\w-]+)/, "interface"],
      [/^\s*(?:record|resource|flags)\s+([\w-]+)/, "struct"],
      [/^\s*(?:enum|variant)\s+([\w-]+)/, "enum"],
      [/^\s*type\s+([\w-]+)/, "type"],
      [/^\s*(?:export\s+|import\s+)?([\w-]+)\s*:\s*(?:static\s+|async\s+)?func\b/, "function"],
    ],
  },
};
