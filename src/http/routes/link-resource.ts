import { dropsLeft } from '../../core/links/drop-limits.ts'
import { type Link, LINK_KINDS, usesLeft } from '../../core/links/link.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import { OneOf, Page, Text, TextOrNull, Time, TimeOrNull } from '../openapi/reply-schemas.ts'
import { Type } from '../openapi/type.ts'
import { type PagedList, type PageQuery, readPage, textsOf } from './pagination.ts'

const LINK_ID = '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a'

export const LinkId = Type.String({
  format: 'uuid',
  description: 'The id of the link, not its secret.',
  examples: [LINK_ID],
})

const countOrNull = (description: string) =>
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 0,
    description,
    examples: [null],
  })

export const UsesLeft = countOrNull(
  'Downloads or drops until the link ends, the begun one included; `null` without a limit.',
)

export const DROPS_LEFT = {
  bytes_left: countOrNull(
    'Of a drop link: how many bytes more it receives; `null` without a limit.',
  ),
  files_left: countOrNull(
    'Of a drop link: how many files more it receives; `null` without a limit.',
  ),
}

export const ExpiresAt = TimeOrNull('When the link ends.', '2026-12-21T12:00:00.000Z')

export const LINK_MEMBERS = {
  link_id: Text('The id of the link, not its secret.', LINK_ID),
  kind: OneOf(LINK_KINDS, '`download` gives files, `drop` takes new ones.'),
  name: TextOrNull('The one file of the link.', 'report.pdf'),
  prefix: TextOrNull('The prefix of its files.'),
  label: Text('A title, which visitors see; may be empty.', 'The report'),
  has_password: Type.Boolean({
    description: 'Whether visitors need a password.',
    examples: [false],
  }),
  max_uses: countOrNull('The limit of downloads or drops.'),
  uses_left: UsesLeft,
  max_bytes: countOrNull('Of a drop link: how many bytes it receives at most.'),
  max_files: countOrNull('Of a drop link: how many files it receives at most.'),
  ...DROPS_LEFT,
  created_at: Time('When the link was created.'),
  expires_at: ExpiresAt,
}

export const LinkReply = Type.Object(LINK_MEMBERS, {
  title: 'Link',
  description: 'A link without its secret.',
})

export const LinkPageReply = Page('LinkPage', { links: Type.Array(LinkReply) })

export function linkReply(link: Link) {
  const { linkId, kind, target, label, passwordHash, maxUses = null, createdAt, expiresAt } = link
  const { name = null, prefix = null } = target
  const { maxBytes = null, maxFiles = null } = link
  return {
    link_id: linkId,
    kind,
    name,
    prefix,
    label,
    has_password: passwordHash !== undefined,
    max_uses: maxUses,
    uses_left: usesLeft(link) ?? null,
    max_bytes: maxBytes,
    max_files: maxFiles,
    ...dropsLeftReply(link),
    created_at: formatTimestamp(createdAt),
    expires_at: formatTimestamp(expiresAt),
  }
}

export function dropsLeftReply(link: Link) {
  const { bytes = null, files = null } = dropsLeft(link)
  return { bytes_left: bytes, files_left: files }
}

export async function linkPage(query: PageQuery, list: PagedList<Link, string>['list']) {
  const { entries, next_cursor } = await readPage(query, {
    read: (key) => textsOf(key, 1)?.[0],
    list,
    keyOf: ({ linkId }) => [linkId],
  })
  return { links: entries.map(linkReply), next_cursor }
}
