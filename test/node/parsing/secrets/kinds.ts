/**
 * Kinds of secrets as they stand in repositories. Samples are drawn when the test runs, so that no file of this
 * repository holds anything that a scanner would take for a leak.
 */

export interface Random {
  (limit: number): number;
}

/** The same sequence for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

const DIGITS = "0123456789";
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const SYMBOLS = "!#%&*+-=?@^_~";

/** What a sample is made of. */
export class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  from(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.#random(alphabet.length)]).join("");
  }
  hex = (length: number): string => this.from("0123456789abcdef", length);
  upperHex = (length: number): string => this.from("0123456789ABCDEF", length);
  digits = (length: number): string => this.from("123456789", 1) + this.from(DIGITS, length - 1);
  lower = (length: number): string => this.from(LOWER + DIGITS, length);
  upper = (length: number): string => this.from(UPPER + DIGITS, length);
  base32 = (length: number): string => this.from(`${UPPER}234567`, length);
  base62 = (length: number): string => this.from(LOWER + UPPER + DIGITS, length);
  url64 = (length: number): string =>
    this.base62(1) + this.from(`${LOWER + UPPER + DIGITS}-_`, length - 2) + this.base62(1);
  letters = (length: number): string => this.from(LOWER + UPPER, length);
  bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => this.#random(256)));
  base64 = (bytes: number): string => this.bytes(bytes).toString("base64");
  uuid = (): string =>
    `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-${this.from("89ab", 1)}${this.hex(3)}-${this.hex(12)}`;
  /** A generated password with symbols. */
  strong = (length: number): string => this.from(LOWER + UPPER + DIGITS + SYMBOLS, length);
  pick = <T>(items: readonly T[]): T => items[this.#random(items.length)] as T;
  encode = (text: string): string => Buffer.from(text).toString("base64");
  jwt(): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const payload = { sub: this.uuid(), iat: 1_700_000_000 + this.#random(1e7), role: "service" };
    return `${part({ alg: "HS256", typ: "JWT" })}.${part(payload)}.${this.url64(43)}`;
  }
  pem(label: string): string {
    const lines = this.base64(600).match(/.{1,64}/g) ?? [];
    return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----`;
  }
}

type Kind = readonly [name: string, sample: (draw: Draw) => string];

/** Tokens with a prefix, in a place that says nothing of them. */
const TOKENS: readonly Kind[] = [
  ["AWS access key id", (d) => `AKIA${d.base32(16)}`],
  ["AWS temporary access key id", (d) => `ASIA${d.base32(16)}`],
  ["AWS Bedrock key", (d) => `ABSK${d.base64(93)}`],
  ["AWS AppSync key", (d) => `da2-${d.lower(26)}`],
  ["AWS MWS token", (d) => `amzn.mws.${d.uuid()}`],
  ["Google API key", (d) => `AIza${d.url64(35)}`],
  ["Google OAuth secret", (d) => `GOCSPX-${d.url64(28)}`],
  ["Google OAuth token", (d) => `ya29.${d.url64(140)}`],
  ["Google refresh token", (d) => `1//0${d.pick(["3", "4", "e", "g"])}${d.url64(60)}`],
  ["Alibaba access key", (d) => `LTAI${d.base62(20)}`],
  ["Tencent secret id", (d) => `AKID${d.base62(32)}`],
  ["Yandex key", (d) => `AQVN${d.url64(36)}`],
  ["DigitalOcean token", (d) => `dop_v1_${d.hex(64)}`],
  ["Cloudflare origin key", (d) => `v1.0-${d.hex(24)}-${d.hex(146)}`],
  ["Netlify token", (d) => `nfp_${d.base62(36)}`],
  ["Render key", (d) => `rnd_${d.base62(32)}`],
  ["Fly token", (d) => `FlyV1 fm2_${d.base64(300)}`],
  ["Pulumi token", (d) => `pul-${d.hex(40)}`],
  ["Doppler token", (d) => `dp.pt.${d.base62(43)}`],
  ["Doppler service token", (d) => `dp.st.prd.${d.base62(43)}`],
  ["Vault token", (d) => `hvs.${d.url64(92)}`],
  ["Terraform Cloud token", (d) => `${d.base62(14)}.atlasv1.${d.url64(67)}`],
  ["Tailscale key", (d) => `tskey-auth-${d.base62(17)}-${d.base62(32)}`],
  ["OpenShift token", (d) => `sha256~${d.url64(43)}`],
  ["1Password service token", (d) => `ops_eyJ${d.base64(300)}`],
  ["PlanetScale token", (d) => `pscale_tkn_${d.url64(43)}`],
  ["PlanetScale password", (d) => `pscale_pw_${d.url64(43)}`],
  ["Neon key", (d) => `napi_${d.lower(64)}`],
  ["Neon password", (d) => `npg_${d.base62(12)}`],
  ["Supabase token", (d) => `sbp_${d.hex(40)}`],
  ["Supabase secret key", (d) => `sb_secret_${d.url64(31)}`],
  ["Databricks token", (d) => `dapi${d.hex(32)}`],
  ["Aiven password", (d) => `AVNS_${d.url64(19)}`],
  ["Pinecone key", (d) => `pcsk_${d.base62(6)}_${d.base62(63)}`],
  ["GitHub token", (d) => `ghp_${d.base62(36)}`],
  ["GitHub app token", (d) => `ghs_${d.base62(36)}`],
  ["GitHub fine-grained token", (d) => `github_pat_${d.base62(22)}_${d.base62(59)}`],
  ["GitLab token", (d) => `glpat-${d.url64(20)}`],
  ["GitLab runner token", (d) => `GR1348941${d.url64(20)}`],
  ["GitLab trigger token", (d) => `glptt-${d.hex(40)}`],
  ["Bitbucket app password", (d) => `ATBB${d.base62(32)}`],
  ["Atlassian token", (d) => `ATATT3xFfGF0${d.url64(171)}=${d.upperHex(8)}`],
  ["CircleCI token", (d) => `CCIPAT_${d.base62(22)}_${d.hex(40)}`],
  ["Buildkite token", (d) => `bkua_${d.hex(40)}`],
  ["Sonar token", (d) => `squ_${d.hex(40)}`],
  ["Sourcegraph token", (d) => `sgp_${d.hex(16)}_${d.hex(40)}`],
  ["npm token", (d) => `npm_${d.base62(36)}`],
  ["PyPI token", (d) => `pypi-AgEIcHlwaS5vcmc${d.url64(150)}`],
  ["RubyGems key", (d) => `rubygems_${d.hex(48)}`],
  ["crates.io token", (d) => `cio${d.base62(32)}`],
  ["NuGet key", (d) => `oy2${d.lower(43)}`],
  ["Docker Hub token", (d) => `dckr_pat_${d.url64(27)}`],
  ["Clojars token", (d) => `CLOJARS_${d.hex(60)}`],
  ["Artifactory key", (d) => `AKCp${d.base62(69)}`],
  ["Postman key", (d) => `PMAK-${d.hex(24)}-${d.hex(34)}`],
  ["OpenAI project key", (d) => `sk-proj-${d.url64(74)}T3BlbkFJ${d.url64(74)}`],
  ["OpenAI key", (d) => `sk-${d.base62(20)}T3BlbkFJ${d.base62(20)}`],
  ["DeepSeek key", (d) => `sk-${d.hex(32)}`],
  ["Anthropic key", (d) => `sk-ant-api03-${d.url64(93)}AA`],
  ["OpenRouter key", (d) => `sk-or-v1-${d.hex(64)}`],
  ["Hugging Face token", (d) => `hf_${d.letters(34)}`],
  ["Groq key", (d) => `gsk_${d.base62(52)}`],
  ["Perplexity key", (d) => `pplx-${d.base62(48)}`],
  ["Replicate token", (d) => `r8_${d.base62(37)}`],
  ["xAI key", (d) => `xai-${d.base62(80)}`],
  ["Voyage key", (d) => `pa-${d.url64(43)}`],
  ["Jina key", (d) => `jina_${d.hex(32)}${d.url64(28)}`],
  ["NVIDIA key", (d) => `nvapi-${d.url64(64)}`],
  ["LangSmith key", (d) => `lsv2_pt_${d.hex(32)}_${d.hex(10)}`],
  ["Langfuse key", (d) => `sk-lf-${d.uuid()}`],
  ["Tavily key", (d) => `tvly-${d.base62(32)}`],
  ["Firecrawl key", (d) => `fc-${d.hex(32)}`],
  ["ElevenLabs key", (d) => `sk_${d.hex(48)}`],
  ["Fireworks key", (d) => `fw_${d.base62(24)}`],
  ["Slack bot token", (d) => `xoxb-${d.digits(12)}-${d.digits(13)}-${d.base62(24)}`],
  ["Slack user token", (d) => `xoxp-${d.digits(12)}-${d.digits(12)}-${d.digits(13)}-${d.hex(32)}`],
  ["Slack app token", (d) => `xapp-1-A${d.upper(10)}-${d.digits(13)}-${d.hex(64)}`],
  ["Slack webhook", (d) => `https://hooks.slack.com/services/T${d.upper(10)}/B${d.upper(10)}/${d.base62(24)}`],
  ["Discord webhook", (d) => `https://discord.com/api/webhooks/${d.digits(19)}/${d.url64(68)}`],
  ["Discord token", (d) => `M${d.base62(25)}.${d.url64(6)}.${d.url64(38)}`],
  [
    "Teams webhook",
    (d) => `https://acme.webhook.office.com/webhookb2/${d.uuid()}@${d.uuid()}/IncomingWebhook/${d.hex(32)}/${d.uuid()}`,
  ],
  ["Telegram token", (d) => `${d.digits(10)}:AA${d.url64(33)}`],
  ["Facebook token", (d) => `EAA${d.base62(150)}`],
  ["Twitter bearer", (d) => `${"A".repeat(22)}${d.base62(20)}%3D${d.base62(60)}`],
  ["SendGrid key", (d) => `SG.${d.url64(22)}.${d.url64(43)}`],
  ["Brevo key", (d) => `xkeysib-${d.hex(64)}-${d.base62(16)}`],
  ["Resend key", (d) => `re_${d.base62(8)}_${d.base62(24)}`],
  ["Mailgun key", (d) => `key-${d.hex(32)}`],
  ["Mailgun key of today", (d) => `${d.hex(32)}-${d.hex(8)}-${d.hex(8)}`],
  ["Mailchimp key", (d) => `${d.hex(32)}-us${d.digits(1)}`],
  ["Twilio key", (d) => `SK${d.hex(32)}`],
  ["HubSpot token", (d) => `pat-na1-${d.uuid()}`],
  ["Stripe key", (d) => `sk_live_${d.base62(24)}`],
  ["Stripe restricted key", (d) => `rk_live_${d.base62(99)}`],
  ["Stripe webhook secret", (d) => `whsec_${d.base62(32)}`],
  ["Square token", (d) => `sq0atp-${d.url64(22)}`],
  ["Braintree token", (d) => `access_token$production$${d.lower(16)}$${d.hex(32)}`],
  ["Razorpay key", (d) => `rzp_live_${d.base62(14)}`],
  ["Plaid token", (d) => `access-production-${d.uuid()}`],
  ["Flutterwave key", (d) => `FLWSECK-${d.hex(32)}-X`],
  ["EasyPost key", (d) => `EZAK${d.base62(54)}`],
  ["Shopify token", (d) => `shpat_${d.hex(32)}`],
  ["New Relic key", (d) => `NRAK-${d.upper(27)}`],
  ["New Relic license", (d) => `${d.hex(36)}NRAL`],
  ["Grafana token", (d) => `glsa_${d.base62(32)}_${d.hex(8)}`],
  [
    "Grafana Cloud token",
    (d) => `glc_${d.encode(JSON.stringify({ o: d.digits(6), n: d.base62(20), k: d.base62(24) }))}`,
  ],
  ["Sentry token", (d) => `sntrys_${d.encode(JSON.stringify({ iat: 1, url: d.base62(12) }))}_${d.base62(43)}`],
  ["Sentry user token", (d) => `sntryu_${d.hex(64)}`],
  ["Honeycomb key", (d) => `hcaik_${d.lower(58)}`],
  ["Dynatrace token", (d) => `dt0c01.${d.upper(24)}.${d.upper(64)}`],
  ["LaunchDarkly key", (d) => `sdk-${d.uuid()}`],
  ["PostHog key", (d) => `phx_${d.base62(43)}`],
  ["Notion token", (d) => `secret_${d.base62(43)}`],
  ["Notion token of today", (d) => `ntn_${d.digits(11)}${d.base62(35)}`],
  ["Airtable token", (d) => `pat${d.base62(14)}.${d.hex(64)}`],
  ["Figma token", (d) => `figd_${d.url64(40)}`],
  ["Linear key", (d) => `lin_api_${d.base62(40)}`],
  ["Asana token", (d) => `1/${d.digits(16)}:${d.hex(32)}`],
  ["Dropbox token", (d) => `sl.${d.url64(138)}`],
  ["Contentful token", (d) => `CFPAT-${d.url64(43)}`],
  ["Mapbox token", (d) => `sk.eyJ1Ijoi${d.base62(60)}.${d.url64(22)}`],
  ["Azure client secret", (d) => `${d.base62(3)}8Q~${d.url64(34)}`],
  ["Azure DevOps token", (d) => `${d.base62(76)}AZDO${d.base62(4)}`],
  ["Zapier webhook", (d) => `https://hooks.zapier.com/hooks/catch/${d.digits(7)}/${d.lower(7)}`],
  ["age key", (d) => `AGE-SECRET-KEY-1${d.upper(58)}`],
  ["Nostr key", (d) => `nsec1${d.lower(58)}`],
  ["Code Context key", (d) => `cc_live_${d.base62(30)}_${d.base62(43)}`],
  ["JWT", (d) => d.jwt()],
];

/** Secrets that are told by what stands around them. */
const IN_PLACE: readonly Kind[] = [
  ["RSA key", (d) => d.pem("RSA PRIVATE KEY")],
  ["EC key", (d) => d.pem("EC PRIVATE KEY")],
  ["OpenSSH key", (d) => d.pem("OPENSSH PRIVATE KEY")],
  ["encrypted key", (d) => d.pem("ENCRYPTED PRIVATE KEY")],
  ["PGP key", (d) => d.pem("PGP PRIVATE KEY BLOCK").replace("-----\n", "-----\nVersion: GnuPG v2\n\n")],
  ["key in one line of JSON", (d) => `{"private_key": "${d.pem("PRIVATE KEY").replaceAll("\n", String.raw`\n`)}"}`],
  ["key as base64 of PEM", (d) => `key: ${d.encode(d.pem("RSA PRIVATE KEY"))}`],
  ["PKCS #8 as DER", (d) => `data = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC${d.base64(900)}"`],
  [
    "PuTTY key",
    (d) =>
      `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: me\nPublic-Lines: 1\n${d.base64(48)}\nPrivate-Lines: 1\n${d.base64(48)}\nPrivate-MAC: ${d.hex(64)}`,
  ],
  ["AWS secret key", (d) => `aws_secret_access_key = ${d.base64(30)}`],
  ["AWS secret key in code", (d) => `secretAccessKey: "${d.base64(30)}",`],
  ["AWS session token", (d) => `AWS_SESSION_TOKEN=${d.base64(200)}`],
  ["Azure storage key", (d) => `AccountName=acme;AccountKey=${d.base64(64)};EndpointSuffix=core.windows.net`],
  [
    "Azure service bus",
    (d) => `Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${d.base64(32)}`,
  ],
  [
    "Azure SAS URL",
    (d) => `https://a.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig=${encodeURIComponent(d.base64(32))}`,
  ],
  [
    "SQL Server connection",
    (d) => `Server=db;Database=app;User Id=sa;Password=${d.strong(16).replaceAll(/[=;]/g, "x")};`,
  ],
  ["JDBC URL", (d) => `jdbc:postgresql://db/app?user=app&password=${d.base62(16)}`],
  ["Postgres URL with a single-label host", (d) => `postgres://app:${d.base62(14)}@db:5432/app`],
  ["Postgres URL", (d) => `DATABASE_URL=postgresql://app:${d.base62(20)}@db.internal.net/app`],
  ["MySQL URL", (d) => `mysql://root:${d.base62(12)}@mysql/app`],
  ["Mongo URL", (d) => `mongodb+srv://app:${d.base62(16)}@cluster0.ab1cd.mongodb.net/app`],
  ["Redis URL without a user", (d) => `redis://:${d.base62(16)}@cache:6379/0`],
  ["AMQP URL", (d) => `amqp://worker:${d.hex(20)}@rabbit/vhost`],
  ["SMTP URL", (d) => `smtp://mailer:${d.base62(16)}@mail:587`],
  ["LDAP password", (d) => `bindpw ${d.base62(18)}\nBIND_PASSWORD=${d.base62(18)}`],
  ["Git URL with a token", (d) => `https://${d.hex(40)}@github.com/acme/app.git`],
  ["Sentry DSN with a secret", (d) => `https://${d.hex(32)}:${d.hex(32)}@sentry.io/42`],
  ["Kafka JAAS", (d) => `required username="app" password="${d.base62(20)}";`],
  ["dotenv password", (d) => `DB_PASSWORD=${d.base62(16)}`],
  ["dotenv password with symbols", (d) => `SMTP_PASS='${d.strong(16)}'`],
  ["short generated password", (d) => `export DB_PASS=${d.base62(10)}`],
  ["dotenv token", (d) => `INTERNAL_TOKEN=${d.hex(32)}`],
  ["dotenv UUID key", (d) => `HEROKU_API_KEY=${d.uuid()}`],
  ["dotenv hex key", (d) => `DATADOG_API_KEY=${d.hex(32)}`],
  ["dotenv opaque key", (d) => `ACME_KEY=${d.base62(32)}`],
  ["YAML password", (d) => `database:\n  username: app\n  password: ${d.base62(16)}\n`],
  ["YAML block password", (d) => `password: >-\n  ${d.base62(24)}\n`],
  ["compose password", (d) => `environment:\n  POSTGRES_PASSWORD: ${d.base62(16)}\n`],
  ["compose list password", (d) => `environment:\n  - MYSQL_ROOT_PASSWORD=${d.base62(16)}\n`],
  ["tfvars password", (d) => `db_password = "${d.strong(20).replaceAll('"', "x")}"`],
  [
    "Terraform variable default",
    (d) => `variable "admin_password" {\n  default = "${d.base62(20)}"\n  secret = "${d.base62(20)}"\n}`,
  ],
  ["Java properties", (d) => `spring.datasource.password=${d.base62(18)}`],
  ["INI password", (d) => `[client]\nuser = root\npassword = ${d.base62(14)}`],
  ["TOML token", (d) => `[registry]\ntoken = "${d.base62(32)}"`],
  ["XML element", (d) => `<server><id>x</id><password>${d.base62(16)}</password></server>`],
  ["XML attribute", (d) => `<add key="ApiKey" value="${d.base62(32)}" />`],
  ["plist", (d) => `<key>ApiSecret</key>\n<string>${d.base62(32)}</string>`],
  ["ECS environment", (d) => `{"name": "DB_PASSWORD", "value": "${d.base62(20)}"}`],
  ["Kubernetes environment", (d) => `- name: API_TOKEN\n  value: "${d.base62(32)}"`],
  ["Dockerfile ENV", (d) => `ENV API_TOKEN ${d.base62(32)}`],
  ["Dockerfile ARG", (d) => `ARG NPM_TOKEN=${d.uuid()}`],
  ["PowerShell", (d) => `$env:API_TOKEN = "${d.base62(32)}"`],
  ["command line", (d) => `deploy --token ${d.base62(32)} --yes`],
  ["curl with a user", (d) => `curl -u admin:${d.base62(16)} https://acme.dev`],
  ["mysql -p", (d) => `mysql -u root -p${d.base62(14)} app`],
  ["sshpass", (d) => `sshpass -p '${d.base62(14)}' ssh root@host`],
  ["SQL user", (d) => `CREATE USER app IDENTIFIED BY '${d.base62(16)}';`],
  ["SQL role", (d) => `ALTER ROLE app WITH PASSWORD '${d.base62(16)}';`],
  ["TypeScript constant", (d) => `const apiKey: string = "${d.base62(32)}";`],
  ["Python default", (d) => `SECRET = os.environ.get("SECRET", "${d.base62(32)}")`],
  ["Go field", (d) => `cfg := Config{ClientSecret: "${d.base62(32)}"}`],
  ["Ruby hash", (d) => `{ :auth_token => '${d.base62(24)}' }`],
  ["PHP define", (d) => `define('DB_PASSWORD', '${d.base62(16)}');`],
  ["C# constant", (d) => `private const string ApiSecret = "${d.base62(40)}";`],
  ["Rust constant", (d) => `const TOKEN: &str = "${d.base62(40)}";`],
  ["Kotlin property", (d) => `val clientSecret = "${d.base62(32)}"`],
  ["Django secret key", (d) => `SECRET_KEY = 'django-insecure-${d.from(`${LOWER + DIGITS}!@#$%^&*-_=+`, 50)}'`],
  ["Rails secret key base", (d) => `production:\n  secret_key_base: ${d.hex(128)}`],
  ["Laravel application key", (d) => `APP_KEY=base64:${d.base64(32)}`],
  ["Flask secret key", (d) => `app.config["SECRET_KEY"] = "${d.hex(48)}"`],
  ["Symfony secret", (d) => `APP_SECRET=${d.hex(32)}`],
  ["Express session", (d) => `app.use(session({ secret: '${d.base62(32)}' }))`],
  ["NextAuth secret", (d) => `NEXTAUTH_SECRET="${d.base64(32)}"`],
  ["Phoenix secret", (d) => `secret_key_base: "${d.base64(48)}",`],
  ["Spring JWT secret", (d) => `jwt.secret=${d.base62(48)}`],
  [
    "WordPress salt",
    (d) => `define('AUTH_KEY',         '${d.from(`${LOWER + UPPER + DIGITS}!@#^&*()-_ []{}<>~+=,.;:/?|`, 64)}');`,
  ],
  ["ASP.NET machine key", (d) => `<machineKey validationKey="${d.upperHex(128)}" decryptionKey="${d.upperHex(64)}" />`],
  ["Strapi keys", (d) => `APP_KEYS=${d.base64(16)},${d.base64(16)}`],
  ["kubeconfig key", (d) => `    client-key-data: ${d.encode(d.pem("RSA PRIVATE KEY"))}`],
  ["kubeconfig token", (d) => `    token: ${d.base62(48)}`],
  [
    "Kubernetes Secret",
    (d) => `apiVersion: v1\nkind: Secret\ndata:\n  username: YWRtaW4=\n  db: ${d.encode(d.base62(20))}\n`,
  ],
  ["Kubernetes Secret as text", (d) => `kind: Secret\nstringData:\n  config: ${d.base62(24)}\n`],
  ["Kubernetes Secret of bytes", (d) => `kind: Secret\ndata:\n  seed: ${d.base64(32)}\n`],
  ["docker auth", (d) => `{"auths": {"https://index.docker.io/v1/": {"auth": "${d.encode(`user:${d.base62(20)}`)}"}}}`],
  ["JWK", (d) => `{"kty":"EC","crv":"P-256","x":"${d.url64(43)}","y":"${d.url64(43)}","d":"${d.url64(43)}"}`],
  ["symmetric JWK", (d) => `{"kty": "oct", "k": "${d.url64(43)}"}`],
  ["Basic header", (d) => `Authorization: Basic ${d.encode(`admin:${d.base62(16)}`)}`],
  ["opaque Bearer header", (d) => `curl -H "Authorization: Bearer ${d.base62(40)}" https://acme.dev`],
  ["Bearer in code", (d) => `headers: { Authorization: "Bearer ${d.hex(40)}" }`],
  ["X-Api-Key header", (d) => `X-Api-Key: ${d.base62(32)}`],
  ["private token header", (d) => `--header "PRIVATE-TOKEN: ${d.url64(20)}"`],
  ["subscription key header", (d) => `Ocp-Apim-Subscription-Key: ${d.hex(32)}`],
  ["npmrc token", (d) => `//registry.npmjs.org/:_authToken=${d.uuid()}`],
  ["npmrc auth", (d) => `_auth=${d.encode(`ci:${d.base62(20)}`)}`],
  ["netrc", (d) => `machine api.acme.dev login ci password ${d.base62(16)}`],
  ["pgpass", (d) => `db.acme.dev:5432:app:admin:${d.base62(16)}`],
  ["htpasswd", (d) => `admin:$apr1$${d.base62(8)}$${d.base62(22)}`],
  ["bcrypt", (d) => `admin:$2y$10$${d.base62(53)}`],
  ["shadow", (d) => `root:$6$${d.base62(16)}$${d.base62(86)}:19000:0:99999:7:::`],
  ["WireGuard", (d) => `[Interface]\nPrivateKey = ${d.bytes(32).toString("base64")}`],
  ["presigned S3 URL", (d) => `https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=${d.hex(64)}`],
  ["presigned GCS URL", (d) => `https://storage.googleapis.com/b/k?X-Goog-Expires=60&X-Goog-Signature=${d.hex(512)}`],
  ["Ethereum key", (d) => `PRIVATE_KEY=0x${d.hex(64)}`],
  ["Datadog application key", (d) => `dd_app_key: "${d.hex(40)}"`],
  ["Cohere key", (d) => `COHERE_API_KEY=${d.base62(40)}`],
  ["Algolia key", (d) => `const ALGOLIA_ADMIN_KEY = '${d.hex(32)}'`],
  ["Cloudflare token", (d) => `CLOUDFLARE_API_TOKEN=${d.url64(40)}`],
  ["Okta token", (d) => `Authorization: SSWS 00${d.url64(40)}`],
  ["Twilio auth token", (d) => `TWILIO_AUTH_TOKEN=${d.hex(32)}`],
  ["Splunk HEC token", (d) => `splunk_hec_token: ${d.uuid()}`],
  ["Ansible become password", (d) => `ansible_become_pass: ${d.base62(14)}`],
  ["webhook signing secret", (d) => `WEBHOOK_SECRET=${d.hex(40)}`],
];

export const KINDS: readonly Kind[] = [
  ...TOKENS.map(([name, sample]): Kind => [
    name,
    (draw) =>
      draw.pick([
        (token: string) => `see ${token} for more`,
        (token: string) => `# Note ${token}`,
        (token: string) => `call("${token}")`,
        (token: string) => `value: ${token}\n`,
      ])(sample(draw)),
  ]),
  ...IN_PLACE,
];
