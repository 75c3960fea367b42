import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { sha256 } from '../../../src/core/auth/sha256.ts'
import type { NewLink } from '../../../src/core/links/link-ledger.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import type { Caller } from '../../../src/core/users/caller.ts'

/** A drop link for all names, as a JWT without a scope makes it. Its secret is its id. */
export function newLink(
  { userId, userCreatedAt }: Caller,
  {
    terms,
    createdBy,
    ...link
  }: Partial<Omit<NewLink, 'terms' | 'createdBy'>> & {
    readonly terms?: Partial<NewLink['terms']>
    readonly createdBy?: Partial<NewLink['createdBy']>
  } = {},
): NewLink {
  const linkId = createVersion()
  return {
    userId,
    userCreatedAt,
    linkId,
    sha256: sha256(linkId),
    createdBy: {
      tokenId: 'jwt',
      isJwt: true,
      isScoped: false,
      leftMs: undefined,
      credential: undefined,
      deviceId: undefined,
      ...createdBy,
    },
    terms: {
      kind: 'drop',
      target: { prefix: parseFileNamePrefix('') },
      label: 'link',
      maxUses: undefined,
      passwordHash: undefined,
      maxBytes: undefined,
      maxFiles: undefined,
      ...terms,
    },
    askedMs: undefined,
    ...link,
  }
}
