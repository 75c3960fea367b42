/** Defaults of S3 servers and examples from manuals, which anyone can try: access key id and secrets. */
const WELL_KNOWN_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ['minioadmin', ['minioadmin']],
  ['minio', ['minio123', 'minio']],
  ['rustfsadmin', ['rustfsadmin']],
  ['admin', ['admin', 'password', 'minioadmin']],
  ['root', ['root', 'password']],
  ['user', ['pass', 'password']],
  ['test', ['test', 'testsecret', 'testing']],
  ['accesskey', ['secretkey']],
  ['accessKey1', ['verySecretKey1']],
  ['AKIAIOSFODNN7EXAMPLE', ['wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY']],
])

export function isDefaultCredential(id: string | undefined, secret: string | undefined): boolean {
  return secret !== undefined && (WELL_KNOWN_KEYS.get(id ?? '') ?? []).includes(secret)
}
