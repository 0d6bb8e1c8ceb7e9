/**
 * Credentials that are recognised by their own format: the prefixes that issuers publish for scanners. One row per kind:
 * name, prefixes, and what follows one of them.
 *
 * Bodies use bounded quantifiers only, so that a try costs no more than the bound, wherever it starts.
 */
export interface TokenRule {
  rule: string;
  /** The token begins with one of these. */
  prefixes: readonly string[];
  /** Source of the regular expression for the rest. */
  body: string;
}

const rows: readonly (readonly [rule: string, prefixes: string, body: string])[] = [
  // Clouds and hosting
  ["aws-access-key", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}"],
  ["aws-bedrock-key", "ABSK bedrock-api-key-", "[A-Za-z0-9+/]{60,300}={0,2}"],
  ["aws-appsync-key", "da2-", "[a-z0-9]{26}"],
  ["aws-mws-token", "amzn.mws.", "[0-9a-f]{8}-[0-9a-f-]{27}"],
  ["google-api-key", "AIza", "[\\w-]{35}"],
  ["google-oauth-secret", "GOCSPX-", "[\\w-]{28}"],
  ["google-oauth-token", "ya29.", "[\\w-]{40,800}"],
  ["google-refresh-token", "1//0", "[\\w-]{38,200}"],
  ["alibaba-access-key", "LTAI", "[A-Za-z0-9]{12,26}"],
  ["tencent-secret-id", "AKID", "[A-Za-z0-9]{32}"],
  ["scaleway-access-key", "SCW", "[A-Z0-9]{17}"],
  ["yandex-api-key", "AQVN YCA YCM YCN YCO YCP", "[\\w-]{35,80}"],
  ["yandex-iam-token", "t1.", "[A-Z0-9a-z_-]{1,300}={0,2}\\.[A-Z0-9a-z_-]{86}={0,2}"],
  ["digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "[a-f0-9]{64}"],
  ["digitalocean-spaces-key", "DO00", "[A-Z0-9]{16}"],
  ["cloudflare-origin-key", "v1.0-", "[a-f0-9]{24}-[a-f0-9]{146}"],
  ["cloudflare-token", "cfut_ cfat_ cfk_", "[A-Za-z0-9]{40,80}"],
  ["fly-token", "fm1r_ fm1a_ fm2_ fo1_", "[A-Za-z0-9+/=,_-]{40,800}"],
  ["render-key", "rnd_", "[A-Za-z0-9]{28,40}"],
  ["vercel-token", "vcp_ vci_ vca_ vcr_ vck_", "[A-Za-z0-9]{24,80}"],
  ["netlify-token", "nfp_ nfc_ nfo_ nfu_", "[A-Za-z0-9]{36}"],
  ["heroku-key", "HRKU-", "[\\w-]{30,80}"],
  ["pulumi-token", "pul-", "[a-f0-9]{40}"],
  ["doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}"],
  ["vault-token", "hvs. hvb. hvr.", "[\\w-]{24,300}"],
  ["onepassword-token", "ops_eyJ", "[A-Za-z0-9+/_-]{100,1000}={0,2}"],
  [
    "onepassword-secret-key",
    "A3-",
    "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
  ],
  ["openshift-token", "sha256~", "[\\w-]{43}"],
  ["scalingo-token", "tk-us-", "[\\w-]{48}"],
  [
    "tailscale-key",
    "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook- tskey-",
    "[A-Za-z0-9]{6,24}-[A-Za-z0-9]{20,64}",
  ],
  ["harness-token", "pat. sat.", "[A-Za-z0-9_-]{22}\\.[a-f0-9]{24}\\.[A-Za-z0-9]{20}"],
  // Databases and search
  ["planetscale-credential", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[\\w.=-]{32,64}"],
  ["neon-credential", "napi_ npg_", "[A-Za-z0-9]{12,72}"],
  ["supabase-key", "sbp_ sb_secret_", "[\\w-]{28,64}"],
  ["mongodb-atlas-secret", "mdb_sa_sk_", "[\\w-]{30,60}"],
  ["databricks-token", "dapi dkea dsapi", "[a-f0-9]{32}(?:-\\d)?"],
  ["cockroach-key", "CCDB1_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{40}"],
  ["aiven-password", "AVNS_", "[\\w-]{18,40}"],
  ["pinecone-key", "pcsk_", "[A-Za-z0-9]{5,6}_[A-Za-z0-9]{60,68}"],
  ["clickhouse-key", "4b1d", "[A-Za-z0-9]{38}"],
  ["xata-key", "xau_", "[A-Za-z0-9]{32,64}"],
  ["confluent-key", "cflt", "[A-Za-z0-9+/]{56,64}"],
  // Code hosting, CI and package registries
  ["github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{36,251}"],
  ["github-fine-grained-token", "github_pat_", "[A-Za-z0-9_]{60,255}"],
  [
    "gitlab-token",
    "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent- glffct- gloas- glwt-",
    "[\\w.-]{20,300}",
  ],
  ["gitlab-runner-token", "GR1348941", "[\\w-]{20}"],
  ["bitbucket-token", "ATBB ATCTT3xFfGN0", "[\\w=-]{24,250}"],
  ["atlassian-token", "ATATT3xFfGF0 ATATT3 ATSTT3", "[\\w=-]{60,300}"],
  ["trello-token", "ATTA", "[a-f0-9]{64}[A-F0-9]{8}"],
  ["circleci-token", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9]{22}_[a-f0-9]{40}"],
  ["buildkite-token", "bkua_ bkct_ bkaj_", "[A-Za-z0-9]{40,64}"],
  ["sonar-token", "squ_ sqp_ sqa_", "[a-f0-9]{40}"],
  ["sourcegraph-token", "sgp_ slk_", "(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40,64}"],
  ["npm-token", "npm_", "[A-Za-z0-9]{36}"],
  ["pypi-token", "pypi-AgE pypi-AgN", "[\\w-]{50,500}"],
  ["rubygems-key", "rubygems_", "[a-f0-9]{48}"],
  ["crates-token", "cio", "[A-Za-z0-9]{32}"],
  ["nuget-key", "oy2", "[a-z0-9]{43}"],
  ["docker-token", "dckr_pat_ dckr_oat_", "[\\w-]{27,60}"],
  ["packagist-token", "packagist_ort_ packagist_out_ packagist_uut_", "[a-f0-9]{40,72}"],
  ["clojars-token", "CLOJARS_", "[a-f0-9]{60}"],
  ["artifactory-key", "AKCp cmVmdGtuOj", "[A-Za-z0-9]{45,80}"],
  ["terraform-token", "ATLAS-TOKEN.", "[\\w-]{30,90}"],
  ["prefect-key", "pnu_ pnb_", "[A-Za-z0-9]{36}"],
  ["dockerhub-token", "dtr_", "[\\w-]{27,60}"],
  ["postman-key", "PMAK-", "[a-f0-9]{24}-[a-f0-9]{34}"],
  ["readme-key", "rdme_", "[a-z0-9]{70}"],
  ["expo-token", "expo_", "[\\w-]{36,60}"],
  // Models
  ["openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-service-", "[\\w-]{40,250}"],
  ["openai-key", "sk-", "(?:[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48}|[a-f0-9]{32})"],
  ["anthropic-key", "sk-ant-", "[a-z]{3,8}\\d{2}-[\\w-]{40,200}"],
  ["openrouter-key", "sk-or-v1-", "[a-f0-9]{64}"],
  ["langfuse-key", "sk-lf-", "[a-f0-9]{8}-[a-f0-9-]{27}"],
  ["helicone-key", "sk-helicone-", "[a-z0-9-]{30,60}"],
  ["huggingface-token", "hf_ api_org_", "[A-Za-z0-9]{34,40}"],
  ["groq-key", "gsk_", "[A-Za-z0-9]{48,60}"],
  ["perplexity-key", "pplx-", "[A-Za-z0-9]{40,60}"],
  ["replicate-token", "r8_", "[A-Za-z0-9]{37}"],
  ["together-key", "tgp_v1_", "[\\w-]{40,60}"],
  ["fireworks-key", "fw_", "[A-Za-z0-9]{22,24}"],
  ["xai-key", "xai-", "[A-Za-z0-9]{60,100}"],
  ["voyage-key", "pa- al-", "[\\w-]{43}"],
  ["jina-key", "jina_", "[a-f0-9]{32}[\\w-]{20,60}"],
  ["nvidia-key", "nvapi-", "[\\w-]{60,80}"],
  ["cerebras-key", "csk-", "[a-z0-9]{48}"],
  ["langsmith-key", "lsv2_pt_ lsv2_sk_", "[a-f0-9]{32}_[a-f0-9]{10}"],
  ["wandb-key", "wandb_v1_", "[\\w-]{40,100}"],
  ["tavily-key", "tvly-", "(?:dev-|prod-)?[\\w-]{32,64}"],
  ["firecrawl-key", "fc-", "[a-f0-9]{32}"],
  ["e2b-key", "e2b_", "[a-f0-9]{40}"],
  ["elevenlabs-key", "sk_", "[a-f0-9]{48}"],
  ["modal-token", "ak- as-", "[A-Za-z0-9]{22}"],
  ["runpod-key", "rpa_", "[A-Z0-9]{40,50}[a-z0-9]{0,6}"],
  // Chat and mail
  [
    "slack-token",
    "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xoxe.xoxp- xoxe.xoxb-",
    "[A-Za-z0-9%-]{20,300}",
  ],
  ["slack-app-token", "xapp- xwfp-", "\\d-[A-Za-z0-9]{5,20}-\\d{5,20}-[a-f0-9]{32,80}"],
  ["discord-token", "mfa.", "[\\w-]{80,90}"],
  ["line-token", "LINE_", "[A-Za-z0-9+/]{150,200}={0,2}"],
  ["facebook-token", "EAA", "[A-Za-z0-9]{80,300}"],
  ["instagram-token", "IGQV IGAA", "[\\w-]{60,300}"],
  ["twitter-bearer", "AAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{50,200}"],
  ["sendgrid-key", "SG.", "[\\w-]{22}\\.[\\w-]{43}"],
  ["brevo-key", "xkeysib- xsmtpsib-", "[a-f0-9]{64}-[A-Za-z0-9]{16}"],
  ["resend-key", "re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"],
  ["mailgun-key", "key- pubkey-", "[a-f0-9]{32}"],
  ["intercom-token", "dG9rO", "[A-Za-z0-9+/_-]{54,60}={0,2}"],
  ["hubspot-token", "pat-na1- pat-na2- pat-eu1-", "[a-f0-9]{8}-[a-f0-9-]{27}"],
  ["typeform-token", "tfp_", "[\\w.=-]{40,64}"],
  // Payments and commerce
  ["stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_live_ sk_org_test_", "[A-Za-z0-9]{20,247}"],
  ["webhook-secret", "whsec_", "[A-Za-z0-9+/]{24,80}={0,2}"],
  ["square-token", "sq0atp- sq0csp- sq0idp-", "[\\w-]{22,43}"],
  ["square-token", "EAAA", "[\\w-]{60}"],
  ["braintree-token", "access_token$production$ access_token$sandbox$", "[a-z0-9]{16}\\$[a-f0-9]{32}"],
  ["razorpay-key", "rzp_live_ rzp_test_", "[A-Za-z0-9]{14}"],
  ["paddle-key", "pdl_live_apikey_ pdl_sdbx_apikey_ pdl_ntfset_", "[\\w]{26,120}"],
  ["mollie-key", "live_ test_", "[A-Za-z0-9]{30}"],
  ["gocardless-token", "live_ sandbox_", "[\\w-]{40}"],
  ["lob-key", "live_ test_", "[a-f0-9]{35}"],
  ["flutterwave-key", "FLWSECK- FLWSECK_TEST-", "[a-f0-9A-F]{12,40}(?:-X)?"],
  ["plaid-token", "access-production- access-sandbox- access-development-", "[a-f0-9]{8}-[a-f0-9-]{27}"],
  ["easypost-key", "EZAK EZTK", "[A-Za-z0-9]{54}"],
  ["shippo-token", "shippo_live_ shippo_test_", "[a-f0-9]{40}"],
  ["duffel-token", "duffel_live_ duffel_test_", "[\\w=-]{43}"],
  ["shopify-token", "shpat_ shpss_ shpca_ shppa_ shptka_", "[a-fA-F0-9]{32}"],
  // Monitoring and analytics
  ["newrelic-key", "NRAK- NRII- NRIQ- NRRA- NRAA- NRSP- NRBR-", "[A-Za-z0-9_-]{27,50}"],
  ["newrelic-browser-key", "NRJS-", "[a-f0-9]{19}"],
  ["grafana-token", "glsa_", "[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"],
  ["grafana-cloud-token", "glc_ eyJrIjoi", "[A-Za-z0-9+/]{32,400}={0,3}"],
  ["sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", "[A-Za-z0-9_+/=-]{40,400}"],
  ["honeycomb-key", "hcaik_ hcamk_ hcxik_ hcbik_ hcalk_", "[a-z0-9]{26,80}"],
  ["dynatrace-token", "dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.", "[A-Z0-9]{8,24}\\.[A-Z0-9]{64}"],
  ["posthog-key", "phx_", "[A-Za-z0-9]{40,60}"],
  ["axiom-token", "xaat- xapt-", "[a-f0-9]{8}-[a-f0-9-]{27}"],
  ["launchdarkly-key", "sdk- api- mob-", "[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"],
  ["statsig-key", "secret-", "[A-Za-z0-9]{43}"],
  ["checkly-key", "cu_", "[a-f0-9]{32}"],
  ["honeybadger-key", "hbp_", "[A-Za-z0-9]{30,40}"],
  ["datadog-key", "ddapp_ ddapi_", "[A-Za-z0-9]{32,60}"],
  // Work
  ["notion-token", "secret_ ntn_", "[A-Za-z0-9]{43,50}"],
  ["airtable-token", "pat", "[A-Za-z0-9]{14}\\.[a-f0-9]{64}"],
  ["figma-token", "figd_ figo_ figu_ figdh_ figoh_ figuh_", "[\\w-]{36,80}"],
  ["linear-key", "lin_api_ lin_oauth_", "[A-Za-z0-9]{32,64}"],
  ["asana-token", "0/ 1/ 2/", "\\d{13,20}(?:/\\d{13,20})?:[a-f0-9]{32}"],
  ["clickup-token", "pk_", "\\d{7,8}_[A-Z0-9]{32}"],
  ["dropbox-token", "sl.", "(?:u\\.)?[\\w-]{120,800}"],
  ["contentful-token", "CFPAT-", "[\\w-]{43}"],
  ["mapbox-token", "sk.eyJ tk.eyJ", "[\\w-]{50,300}\\.[\\w-]{20,60}"],
  ["calendly-token", "cal_live_ cal_test_", "[a-f0-9]{32}"],
  ["frameio-token", "fio-u-", "[\\w=-]{64}"],
  ["beamer-token", "b_", "[\\w=-]{44}"],
  ["adobe-secret", "p8e- p8-", "[A-Za-z0-9]{32}"],
  ["twitch-token", "oauth:", "[a-z0-9]{30}"],
  ["zoho-token", "1000.", "[a-f0-9]{32}\\.[a-f0-9]{32}"],
  ["miro-token", "eyJtaXJv", "[\\w.-]{30,200}"],
  ["salesforce-token", "00D", "[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,120}"],
  ["workos-key", "sk_live_ sk_test_", "[A-Za-z0-9]{40,}".replace(",}", ",120}")],
  // Keys and identities
  ["age-key", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"],
  ["nostr-key", "nsec1", "[a-z0-9]{58}"],
  ["code-context-credential", "cc_live_ cc_wrk_", "[A-Za-z0-9]{6,40}_[A-Za-z0-9]{40,60}"],
];

export const TOKEN_RULES: readonly TokenRule[] = rows.map(([rule, prefixes, body]) => ({
  rule,
  prefixes: prefixes.split(" "),
  body,
}));

/** Shapes without a prefix of their own, or with more than a token in them. Group 1, where there is one, is the secret. */
export interface ShapeRule {
  rule: string;
  /** One of these texts occurs wherever the pattern matches. */
  hints: readonly string[];
  pattern: RegExp;
}

export const SHAPE_RULES: readonly ShapeRule[] = [
  {
    rule: "azure-client-secret",
    hints: ["Q~"],
    pattern: /(?<![\w~.-])([\w~.-]{3}\dQ~[\w~.-]{31,34})(?![\w~.-])/dg,
  },
  {
    rule: "azure-devops-token",
    hints: ["AZDO"],
    pattern: /(?<![A-Za-z0-9])([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})(?![A-Za-z0-9])/dg,
  },
  {
    rule: "azure-key",
    hints: ["AzFu", "AzSe", "+ACR", "AIoT", "APIM", "ACDb", "+ASt", "+AMC", "+ARm", "ASbT", "AEhS", "JQQJ99"],
    pattern:
      /(?<![\w+/-])([\w+/-]{32,96}(?:AzFu|AzSe|\+ACR|AIoT|APIM|ACDb|\+ASt|\+AMC|\+ARm|ASbT|AEhS|JQQJ99)[\w+/-]{4,40}={0,2})(?![\w+/])/dg,
  },
  {
    rule: "terraform-cloud-token",
    hints: [".atlasv1."],
    pattern: /(?<![A-Za-z0-9])([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70})/dg,
  },
  {
    rule: "discord-token",
    hints: ["M", "N", "O"],
    pattern: /(?<![\w.-])([MNO][A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,40})(?![\w.-])/dg,
  },
  { rule: "telegram-token", hints: [":AA"], pattern: /(?<![\w:])(\d{8,10}:AA[\w-]{33})(?![\w-])/dg },
  {
    rule: "mailchimp-key",
    hints: ["-us"],
    pattern: /(?<=(?<![A-Za-z0-9])([a-f0-9]{32}))-us\d{1,2}(?![a-z0-9])/dg,
  },
  {
    rule: "mailgun-key",
    hints: ["-"],
    pattern: /(?<=(?<![A-Za-z0-9-])([a-f0-9]{32}))-[a-f0-9]{8}-[a-f0-9]{8}(?![A-Za-z0-9-])/dg,
  },
  { rule: "newrelic-license", hints: ["NRAL"], pattern: /(?<![A-Za-z0-9])([a-zA-Z0-9]{36})NRAL(?![A-Za-z0-9])/dg },
  {
    rule: "unleash-token",
    hints: [":"],
    pattern: /(?<=[\w*]):[\w-]{1,40}\.([a-f0-9]{56})(?![a-f0-9])/dg,
  },
  { rule: "maxmind-key", hints: ["_mmk"], pattern: /(?<![A-Za-z0-9])([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)/dg },
  {
    rule: "twilio-key",
    hints: ["SK"],
    pattern: /(?<![A-Za-z0-9])SK([a-f0-9]{32})(?![A-Za-z0-9])/dg,
  },
  {
    rule: "jwt",
    hints: ["eyJ"],
    pattern: /(?<![\w.-])(eyJ[\w-]{8,4000}\.[\w-]{6,8000}\.[\w-]{20,1000})(?![\w-])/dg,
  },
  {
    rule: "jwe",
    hints: ["eyJ"],
    pattern: /(?<![\w.-])(eyJ[\w-]{8,2000}\.[\w-]{0,1000}\.[\w-]{8,100}\.[\w-]{8,8000}\.[\w-]{16,100})(?![\w-])/dg,
  },
  {
    rule: "slack-webhook",
    hints: ["hooks.slack"],
    pattern:
      /(https:\/\/hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/[A-Z0-9]{8,14}\/[A-Za-z0-9]{8,24}\/[A-Za-z0-9/]{18,80})/dg,
  },
  {
    rule: "discord-webhook",
    hints: ["/api/webhooks/"],
    pattern: /(https:\/\/(?:\w{2,10}\.)?discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,80})/dg,
  },
  {
    rule: "teams-webhook",
    hints: ["webhook.office.com", "outlook.office.com"],
    pattern:
      /(https:\/\/[\w-]{1,60}\.(?:webhook\.)?office\.com\/webhook(?:b2)?\/[\da-f-]{36}@[\da-f-]{36}\/IncomingWebhook\/[\da-f]{32}\/[\da-f-]{36}(?:\/[\w-]{1,80})?)/dgi,
  },
  {
    rule: "google-chat-webhook",
    hints: ["chat.googleapis.com"],
    pattern:
      /https:\/\/chat\.googleapis\.com\/v1\/spaces\/[\w-]{5,40}\/messages\?key=[\w%-]{20,60}&token=([\w%-]{20,80})/dg,
  },
  {
    rule: "zapier-webhook",
    hints: ["hooks.zapier.com", "hook.integromat", ".make.com/"],
    pattern:
      /(https:\/\/(?:hooks\.zapier\.com\/hooks\/catch\/\d{4,12}\/[a-z0-9]{5,12}|hook\.[\w.]{2,30}\.?(?:make|integromat)\.com\/[a-z0-9]{24,40}))/dg,
  },
  {
    rule: "signed-url",
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
    hints: ["$"],
    pattern:
      /(?<![\w$])(\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|[156]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}|y\$[./A-Za-z0-9]{1,10}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}|argon2(?:id?|d)\$v=\d{1,3}\$[\w=,]{5,40}\$[\w+/]{8,88}\$[\w+/]{16,128}))(?![\w./])/dg,
  },
  {
    rule: "password-hash",
    hints: ["{SSHA", "{SHA", "pbkdf2_sha"],
    pattern:
      /(\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{20,120}={0,2}|pbkdf2_sha\d{1,3}\$\d{1,8}\$\w{6,32}\$[A-Za-z0-9+/]{20,90}={0,2})/dg,
  },
  {
    rule: "wireguard-key",
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
