/** A PostgreSQL server that answers, but on which the service cannot work; the message says why and what to do. */
export class UnsuitableServer extends Error {
  override readonly name = "UnsuitableServer";

  static pooler(): UnsuitableServer {
    return new UnsuitableServer(
      "a connection pooler is in front of the server, which does not keep the settings of a session: connect to PostgreSQL itself",
    );
  }
}
