/** What S3 servers come with, or their manuals and examples show: access key id and secret access key. */
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

/** Whether whoever reaches the object store could use it with these without being told them. */
export function isDefaultCredential(id: string | undefined, secret: string | undefined): boolean {
  return secret !== undefined && (WELL_KNOWN_KEYS.get(id ?? '') ?? []).includes(secret)
}

/** Whether a URL leads to this very machine. */
export function isLoopback(url: string | undefined): boolean {
  const host = url === undefined ? undefined : URL.parse(url)?.hostname
  return host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host)
}
