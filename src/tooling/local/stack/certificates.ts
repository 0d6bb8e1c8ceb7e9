import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rootCertificates } from "node:tls";

const VARIABLE = "NODE_EXTRA_CA_CERTS";
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reduces `NODE_EXTRA_CA_CERTS` to its non-public certificates. The variable often names the system's whole bundle, and
 * Miniflare passes each certificate to workerd, which already has the public ones; this takes seconds per start.
 * Must run before Miniflare is imported.
 */
export function passExtraCertificatesOnly(folder: string): void {
  const file = process.env[VARIABLE];
  if (file === undefined || !existsSync(file)) return;
  const known = new Set(rootCertificates.map(bodyOf));
  const certificates = readFileSync(file, "utf8").match(CERTIFICATE) ?? [];
  const extra = certificates.filter((certificate) => !known.has(bodyOf(certificate)));
  if (extra.length === 0) {
    delete process.env[VARIABLE];
    return;
  }
  const copy = path.join(folder, "extra-ca.pem");
  writeFileSync(copy, `${extra.join("\n")}\n`, { mode: 0o600 });
  process.env[VARIABLE] = copy;
}

/** The certificate's base64 without line breaks, which differ between bundles. */
function bodyOf(certificate: string): string {
  return certificate.replaceAll(/-----[^-]+-----|\s/g, "");
}
