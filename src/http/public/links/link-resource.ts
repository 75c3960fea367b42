import type { Static } from 'typebox'
import { MAX_EXPIRES_IN_SECONDS } from '../../../core/auth/terms.ts'
import { formatError } from '../../../core/errors.ts'
import { parseFileName, parseFileNamePrefix } from '../../../core/files/file-name.ts'
import { LINK_KINDS, type LinkTarget } from '../../../core/links/link.ts'
import type { LinkTerms } from '../../../core/links/links.ts'
import { describing } from '../../openapi/operation.ts'
import { Prefix } from '../../openapi/parameters.ts'
import { OneOf, Text } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { DROP_LIMITS, LABEL, limitsIn, PASSWORD, USES } from '../../routes/link-changes.ts'
import { LINK_MEMBERS } from '../../routes/link-resource.ts'

export const ofLinks = describing({ tag: 'links', credentials: 'none' })

export const LINK_SECRET = {
  type: 'string',
  pattern: '^crl_[A-Za-z0-9_-]{43}$',
  description: 'The secret of the link.',
  examples: [`crl_${'A'.repeat(43)}`],
} as const

export const LinkBody = Type.Object(
  {
    kind: OneOf(LINK_KINDS, '`download` gives files, `drop` takes new ones.'),
    name: Type.Optional(
      Type.String({ description: 'For a link to one file: its name.', examples: ['report.pdf'] }),
    ),
    prefix: Prefix(
      'Instead of `name`: every current file whose name begins with this and goes on with a file name, so a folder ' +
        'needs its slash. A drop link puts it in front of the names of new files. Visitors never see it, except the name ' +
        'of the folder in an archive. May be empty.',
    ),
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_EXPIRES_IN_SECONDS,
        description: 'Lifetime of the link in seconds. By default, the link does not expire.',
      }),
    ),
    max_uses: Type.Optional(Type.Integer(USES)),
    password: Type.Optional(Type.String(PASSWORD)),
    label: Type.Optional(Type.String(LABEL)),
    ...DROP_LIMITS,
  },
  {
    title: 'LinkTerms',
    additionalProperties: false,
    examples: [{ kind: 'download', name: 'report.pdf', expires_in: 604_800 }],
  },
)

type Body = Static<typeof LinkBody>

/** Throws `format_error` unless it names one file or a prefix, and as their parsers do. */
export function linkTermsIn(body: Body): LinkTerms {
  const { kind, expires_in: expiresInSeconds, max_uses: maxUses, password, label = '' } = body
  const limits = limitsIn(body)
  return { kind, target: targetIn(body), label, expiresInSeconds, maxUses, password, limits }
}

function targetIn({ kind, name, prefix }: Body): LinkTarget {
  if (name !== undefined && prefix === undefined && kind === 'download') {
    return { name: parseFileName(name) }
  }
  if (prefix !== undefined && name === undefined) return { prefix: parseFileNamePrefix(prefix) }
  throw formatError('A download link needs "name" or "prefix", and a drop link "prefix".')
}

/** With its new secret. */
export const CreatedLinkReply = Type.Object(
  {
    ...LINK_MEMBERS,
    url: Type.String({
      format: 'uri-reference',
      description: 'The address for visitors. Only this response has it.',
      examples: [`//files.example.com/links/crl_${'A'.repeat(43)}`],
    }),
    secret: Text('The secret in the address. Only this response has it.', `crl_${'A'.repeat(43)}`),
  },
  { title: 'CreatedLink' },
)
