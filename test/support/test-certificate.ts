/** A certificate of `localhost` that signs itself, until 2120, for servers of tests; its key protects nothing. */
import { createPrivateKey, X509Certificate } from "node:crypto";

const CERTIFICATE =
  "MIIBYDCCAQegAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCU2ztD5/1vr30xcIuUGWdK0j3PimNIDf8A9yRWqSf7vMAfYgXapBzTwVEu6KUJdmjhkJAlfTUTmgLcUHWbo2WOjSDBGMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBRxS+RdXwOyA3MoDH8CZTpMrjB+AzAKBggqhkjOPQQDAgNHADBEAiA0bAiT3ShBTSQmkki3UutqxKxbr+hd4YC75faZ7LGAKAIgagE8OxhZaTEWtgn947irWOGb7Kr9xUwgbtzsoCMu67k=";
const KEY =
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgV3lC/t5wUgH8EdHiZz5UxT3MN+7WBR78KwxYvMECvsShRANCAAQlNs7Q+f9b699MXCLlBlnStI9z4pjSA3/APckVqkn+7zAH2IF2qQc08FRLuilCXZo4ZCQJX01E5oC3FB1m6Nlj";

/** Both as PEM. */
export const TEST_CERTIFICATE = new X509Certificate(Buffer.from(CERTIFICATE, "base64")).toString();
export const TEST_KEY = createPrivateKey({ key: Buffer.from(KEY, "base64"), format: "der", type: "pkcs8" })
  .export({ format: "pem", type: "pkcs8" })
  .toString();
