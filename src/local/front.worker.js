/**
 * What Cloudflare's edge does in front of a Worker and workerd alone does not: it says who is calling. It also sends the
 * local S3 endpoint of R2, which Miniflare serves on a port of its own, out through the public one.
 */
const S3_PATH = "/cdn-cgi/local/r2/s3/";

export default {
  /**
   * @param {Request} request
   * @param {{ TARGET: Fetcher, S3?: Fetcher }} env
   */
  fetch(request, env) {
    if (env.S3 && new URL(request.url).pathname.startsWith(S3_PATH)) return env.S3.fetch(request);
    const forwarded = new Request(request);
    forwarded.headers.set("CF-Connecting-IP", addressOf(request.cf?.clientIp));
    return env.TARGET.fetch(forwarded);
  },
};

/**
 * `127.0.0.1:5000` and `[::1]:5000` without the port.
 * @param {string | undefined} peer
 */
function addressOf(peer) {
  return peer?.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1") ?? "127.0.0.1";
}
