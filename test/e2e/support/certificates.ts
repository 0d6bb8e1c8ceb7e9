/**
 * A service that starts in this process names a file of its data folder as `NODE_EXTRA_CA_CERTS`. The returned function sets the variable back
 * for the test files that run here afterwards.
 */
export function keepCertificates(): () => void {
  const before = process.env["NODE_EXTRA_CA_CERTS"];
  return () => {
    if (before === undefined) delete process.env["NODE_EXTRA_CA_CERTS"];
    else process.env["NODE_EXTRA_CA_CERTS"] = before;
  };
}
