/** Address of the local stack's snapshot bucket over S3, below the api's own. */
export const SNAPSHOTS_BUCKET = "code-context-snapshots";

export const localBucketUrl = (apiUrl: string): string => `${apiUrl}/cdn-cgi/local/r2/s3/${SNAPSHOTS_BUCKET}`;
