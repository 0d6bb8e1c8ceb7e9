/** Shapes without a prefix of their own, or with more than a token in them. Group 1, if there is one, is the secret. */
interface ShapeRule {
  rule: string;
  /** One of these texts occurs wherever the pattern matches. */
  hints: readonly string[];
  /** Length of the shortest run of token characters in a match; a match need not have one without it. */
  run?: number;
  pattern: RegExp;
}

export const SHAPE_RULES: readonly ShapeRule[] = [
  {
    rule: "azure-client-secret",
    run: 32,
    hints: ["Q~"],
    pattern: /(?<![\w~.-])([\w~.-]{3}\dQ~[\w~.-]{31,34})(?![\w~.-])/dg,
  },
  {
    rule: "azure-devops-token",
    run: 80,
    hints: ["AZDO"],
    pattern: /(?<![A-Za-z0-9])([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})(?![A-Za-z0-9])/dg,
  },
  {
    rule: "azure-key",
    run: 40,
    hints: ["AzFu", "AzSe", "+ACR", "AIoT", "APIM", "ACDb", "+ASt", "+AMC", "+ARm", "ASbT", "AEhS", "JQQJ99"],
    pattern:
      /(?<![\w+/-])([\w+/-]{32,96}(?:AzFu|AzSe|\+ACR|AIoT|APIM|ACDb|\+ASt|\+AMC|\+ARm|ASbT|AEhS|JQQJ99)[\w+/-]{4,40}={0,2})(?![\w+/])/dg,
  },
  {
    rule: "terraform-cloud-token",
    run: 80,
    hints: [".atlasv1."],
    pattern: /(?<![A-Za-z0-9])([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70})/dg,
  },
  {
    rule: "discord-token",
    run: 58,
    hints: ["M", "N", "O"],
    pattern: /(?<![\w.-])([MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40})(?![\w.-])/dg,
  },
  {
    rule: "convex-key",
    hints: ["prod:", "dev:", "preview:", "project:"],
    pattern: /(?<![\w-])((?:prod|dev|preview|project):[\w:-]{3,60}\|[A-Za-z0-9+/]{40,400}={0,2})/dg,
  },
  {
    rule: "azure-function-key",
    run: 40,
    hints: ["azurewebsites.net"],
    pattern: /azurewebsites\.net\/[^\s"'<>]{0,200}[?&]code=([\w%/+-]{40,100}={0,2})/dg,
  },
  {
    rule: "cypress-record-key",
    run: 36,
    hints: ["--key"],
    pattern: /--key[ =]([a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12})(?![\w-])/dg,
  },
  {
    rule: "telegram-token",
    run: 44,
    hints: [":AA"],
    pattern: /(?<![\w:])(?:bot)?(\d{8,10}:AA[\w-]{32,35})(?![\w-])/dg,
  },
  {
    rule: "mailchimp-key",
    run: 32,
    hints: ["-us"],
    // What is rarest comes first.
    pattern: /-us\d{1,2}(?![a-z0-9])(?<=(?<![A-Za-z0-9])([a-f0-9]{32})-us\d{1,2})/dg,
  },
  {
    rule: "mailgun-key",
    run: 32,
    hints: ["-"],
    pattern: /-[a-f0-9]{8}-[a-f0-9]{8}(?![A-Za-z0-9-])(?<=(?<![A-Za-z0-9-])([a-f0-9]{32})-[a-f0-9]{8}-[a-f0-9]{8})/dg,
  },
  {
    rule: "newrelic-license",
    run: 40,
    hints: ["NRAL"],
    pattern: /(?<![A-Za-z0-9])([a-zA-Z0-9]{36})NRAL(?![A-Za-z0-9])/dg,
  },
  {
    rule: "unleash-token",
    run: 56,
    hints: [":"],
    pattern: /:(?<=[\w*]:)[\w-]{1,40}\.([a-f0-9]{56})(?![a-f0-9])/dg,
  },
  { rule: "maxmind-key", run: 36, hints: ["_mmk"], pattern: /(?<![A-Za-z0-9])([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)/dg },
  {
    rule: "twilio-key",
    run: 32,
    hints: ["SK"],
    pattern: /(?<![A-Za-z0-9])SK([a-f0-9]{32})(?![A-Za-z0-9])/dg,
  },
  {
    rule: "jwt",
    run: 32,
    hints: ["eyJ"],
    pattern: /(?<![\w.-])(eyJ[\w-]{8,4000}\.[\w-]{6,8000}\.[\w-]{20,1000})(?![\w-])/dg,
  },
  {
    rule: "jwe",
    run: 32,
    hints: ["eyJ"],
    pattern: /(?<![\w.-])(eyJ[\w-]{8,2000}\.[\w-]{0,1000}\.[\w-]{8,100}\.[\w-]{8,8000}\.[\w-]{16,100})(?![\w-])/dg,
  },
  {
    rule: "slack-webhook",
    run: 40,
    hints: ["hooks.slack"],
    pattern:
      /(https:\/\/hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/[A-Z0-9]{8,14}\/[A-Za-z0-9]{8,24}\/[A-Za-z0-9/]{18,80})/dg,
  },
  {
    rule: "discord-webhook",
    run: 60,
    hints: ["/api/webhooks/"],
    pattern: /(https:\/\/(?:\w{2,10}\.)?discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,80})/dg,
  },
  {
    rule: "teams-webhook",
    run: 32,
    hints: ["webhook.office.com", "outlook.office.com"],
    pattern:
      /(https:\/\/[\w-]{1,60}\.(?:webhook\.)?office\.com\/webhook(?:b2)?\/[\da-f-]{36}@[\da-f-]{36}\/IncomingWebhook\/[\da-f]{32}\/[\da-f-]{36}(?:\/[\w-]{1,80})?)/dgi,
  },
  {
    rule: "google-chat-webhook",
    run: 40,
    hints: ["chat.googleapis.com"],
    pattern:
      /https:\/\/chat\.googleapis\.com\/v1\/spaces\/[\w-]{5,40}\/messages\?key=[\w%-]{20,60}&token=([\w%-]{20,80})/dg,
  },
  {
    rule: "zapier-webhook",
    run: 32,
    hints: ["hooks.zapier.com", "hook.integromat", ".make.com/"],
    pattern:
      /(https:\/\/(?:hooks\.zapier\.com\/hooks\/catch\/\d{4,12}\/[a-z0-9]{5,12}|hook\.[\w.]{2,30}\.?(?:make|integromat)\.com\/[a-z0-9]{24,40}))/dg,
  },
  {
    rule: "lark-webhook",
    run: 36,
    hints: ["/open-apis/bot/", "/cgi-bin/webhook/send"],
    pattern:
      /(https:\/\/(?:open\.(?:larksuite|feishu)\.(?:com|cn)\/open-apis\/bot\/(?:v2\/)?hook\/|qyapi\.weixin\.qq\.com\/cgi-bin\/webhook\/send\?key=)[\da-f-]{32,36})/dgi,
  },
  {
    rule: "service-webhook",
    hints: ["/with/key/", "/integration/", "hc-ping.com/", "webhooks/incoming/", "/heartbeat/", "webhooks.gitter"],
    pattern:
      /(https:\/\/(?:maker\.ifttt\.com\/[\w/-]{3,80}\/with\/key\/[\w-]{20,50}|events\.pagerduty\.com\/integration\/[\da-f]{32}|hc-ping\.com\/[\da-f-]{36}|webexapis\.com\/v1\/webhooks\/incoming\/[\w-]{40,120}|uptime\.better(?:stack|uptime)\.com\/api\/v1\/heartbeat\/\w{20,40}|webhooks\.gitter\.im\/e\/[\da-f]{20}))/dg,
  },
  {
    rule: "signed-url",
    run: 27,
    hints: ["ignature=", "sig="],
    pattern:
      /[?&;](?:X-Amz-Signature|X-Goog-Signature|Signature|X-Amz-Security-Token|sig|se?ignature)=([A-Za-z0-9%+/_~=-]{27,2000})/dgi,
  },
  {
    rule: "wordpress-salt",
    hints: ["_SALT", "_KEY"],
    pattern:
      /\bdefine\(\s{0,8}['"](?:AUTH|SECURE_AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)['"]\s{0,8},\s{0,20}['"]([^'\n]{40,120})['"]/dg,
  },
  {
    rule: "password-hash",
    run: 20,
    hints: ["$"],
    pattern:
      /(?<![\w$])(\${1,2}(?:2[abxy]\${1,2}\d\d\${1,2}[./A-Za-z0-9]{53}|apr1\${1,2}[./A-Za-z0-9]{1,8}\${1,2}[./A-Za-z0-9]{22}|[156]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}|y\$[./A-Za-z0-9]{1,10}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}|argon2(?:id?|d)\$v=\d{1,3}\$[\w=,]{5,40}\$[\w+/]{8,88}\$[\w+/]{16,128}))(?![\w./])/dg,
  },
  {
    rule: "password-hash",
    run: 20,
    hints: ["{SSHA", "{SHA", "pbkdf2_sha"],
    pattern:
      /(\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{20,120}={0,2}|pbkdf2_sha\d{1,3}\$\d{1,8}\$\w{6,32}\$[A-Za-z0-9+/]{20,90}={0,2})/dg,
  },
  {
    rule: "wireguard-key",
    run: 42,
    hints: ["PrivateKey", "PresharedKey"],
    pattern: /(?:PrivateKey|PresharedKey)\s{0,8}[=:]\s{0,8}["']?([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)/dg,
  },
  {
    rule: "private-key-der",
    hints: ["MI", "MC4CAQAwBQYDK2V", "LS0tLS1CRUdJTi", "b3BlbnNzaC1rZXktdjE"],
    pattern:
      /(?<![A-Za-z0-9+/])((?:MII[CEJ][\w+/]{2}IBA|MIICX[AQ]IBAA|MHcCAQEE|MIGHAgEAMBMG|MIG[A-Z0-9]AgEAM|MIHcAgEB|MIGkAgEB|MC4CAQAwBQYDK2V|b3BlbnNzaC1rZXktdjE|LS0tLS1CRUdJTi(?:BSU0EgUFJJVkFUR|BFQyBQUklWQVRF|BQUklWQVRF|BPUEVOU1NIIFBSSVZB|BFTkNSWVBURUQgUFJJ|BEU0EgUFJJVkFUR|BQR1AgUFJJVkFUR))[A-Za-z0-9+/\\\s]{24,16000}={0,2})/dg,
  },
];
