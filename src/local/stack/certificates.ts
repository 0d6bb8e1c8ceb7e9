import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rootCertificates } from "node:tls";

const VARIABLE = "NODE_EXTRA_CA_CERTS";
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Points `NODE_EXTRA_CA_CERTS` at those of its certificates that are not public ones. The variable often names the system's
 * whole bundle; Miniflare hands each certificate in it to workerd, which knows the public ones, at seconds per start.
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
