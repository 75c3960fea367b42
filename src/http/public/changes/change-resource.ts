import { CHANGE_EVENTS } from '../../../core/changes/change.ts'
import { VISIBILITIES } from '../../../core/files/file.ts'
import { Bytes, OneOf, Text, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'

const VERSION = '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a'

export const ChangeReply = Type.Object(
  {
    sequence: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: '1, 2, 3 ... for each account, without gaps, in the order of the commits.',
      examples: [42],
    }),
    type: OneOf(
      CHANGE_EVENTS,
      'What happened. `file.updated`: the visibility, the expiry or whether evictions spare it. A rename onto another file is `file.deleted` of that one, then ' +
        '`file.renamed`. `capacity.*`: `state` of the capacity has become this. Ignore types that you do not know.',
    ),
    at: Time('When the change was committed.'),
    name: Type.Optional(Text('The name of the file, for `file.*`.', 'README.md')),
    previous_name: Type.Optional(Type.String({ description: 'For `file.renamed`.' })),
    version: Type.Optional(
      Text('The version of the file. A rename or an update keeps it.', VERSION),
    ),
    size: Type.Optional(Bytes('Size of the file in bytes.', 6143)),
    sha256: Type.Optional(
      Text(
        'SHA-256 of the file, in lower-case hexadecimal.',
        '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      ),
    ),
    visibility: Type.Optional(OneOf(VISIBILITIES, 'Who may download the file.')),
    capacity: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Capacity in bytes, for `capacity.*`.' }),
    ),
    used: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Bytes used by files, for `capacity.*`.' }),
    ),
  },
  { title: 'RepositoryChange', description: 'A committed change of a repository.' },
)
