import type { Replacement } from '../hostile-bytes.ts'

/** Lines of the head of requests about resumable uploads. */
export const RESUMABLE_LINES = [
  'Tus-Resumable: 1.0.0',
  'Tus-Resumable: 0.2.2',
  'Upload-Offset: 0',
  'Upload-Offset: -1',
  'Upload-Offset: 1.5',
  'Upload-Offset: 9007199254740993',
  'Upload-Length: 28',
  'Upload-Length: 0',
  'Upload-Length: 1e3',
  'Upload-Length: 99999999999999999999',
  'Upload-Defer-Length: 1',
  'Upload-Defer-Length: 2',
  'Upload-Metadata: filename Zi1tZXRh',
  'Upload-Metadata: filename',
  'Upload-Metadata: filename Zg==,filename Zg==',
  'Upload-Metadata: filename /w==',
  'Upload-Metadata: __proto__ Zg==,filename Zi1wcm90bw==',
  `Upload-Metadata: filename Zg==,long ${'QUFB'.repeat(1_100)}`,
  'Upload-Checksum: sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  'Upload-Checksum: md5 AAAA',
  'Upload-Checksum: sha256',
  'Upload-Concat: partial',
  'Content-Type: application/offset+octet-stream',
  'X-HTTP-Method-Override: PATCH',
  'Upload-Complete: ?0',
  'Upload-Complete: ?1',
  'Upload-Complete: ?2',
  'Upload-Complete: 1;a="',
] as const

/** Words of such requests in place of others. */
export const RESUMABLE_WORDS: readonly Replacement[] = [
  [
    'uploads',
    ['uploads/', 'uploads//', 'uploads/%2e%2e', 'UPLOADS', 'uploads/0', 'upload%73', 'repo'],
  ],
  ['1.0.0', ['1.0', '0.2.2', '1.0.0,1.0.0', '', '1.0.0\u00ff']],
  [
    'Upload-Offset: ',
    [
      'Upload-Offset: 0',
      'Upload-Offset: 1',
      'Upload-Offset: -',
      'Upload-Offset: +',
      'Upload-Offset: 99999999999999',
      'Upload-Offset: 5\r\nUpload-Offset: ',
      'X-Offset: ',
    ],
  ],
  [
    'Upload-Length: ',
    [
      'Upload-Length: 1',
      'Upload-Length: 0',
      'Upload-Length: -',
      'Upload-Length: 999999999999',
      'Upload-Defer-Length: 1\r\nUpload-Length: ',
      'X-Length: ',
    ],
  ],
  [
    'filename ',
    ['filename', 'name ', 'filename =', 'filename\t', 'file name ', 'filename Zg==,', ',filename '],
  ],
  ['sha1 ', ['sha1', 'SHA1 ', 'md5 ', 'sha256 ', 'sha1  ', 'sha1 =']],
  ['sha-256=:', ['sha-256=', 'sha-256=::', 'SHA-256=:', 'sha-512=:', 'sha-256=:AAAA:, sha-256=:']],
  [
    'application/offset+octet-stream',
    ['application/offset', 'APPLICATION/offset+octet-stream;q=1', 'application/partial-upload', ''],
  ],
  ['Override: ', ['Override: GET\r\nX-HTTP-Method-Override: ', 'Override: x', 'Override:']],
]
