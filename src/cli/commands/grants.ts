import { parseByteSize } from '../../core/byte-size.ts'
import { AppError } from '../../core/errors.ts'
import type { Grant } from '../../core/user-store.ts'
import { timeOf, userIdOf, type Command } from '../command.ts'
import type { Row } from '../render.ts'

export const GRANTS: readonly Command[] = [
  {
    words: ['grants', 'add'],
    operands: ['<user_id>', '<source>', '<reference>'],
    flags: ['bytes', 'starts-at', 'ends-at'],
    required: ['bytes'],
    summary: 'grant bytes for any other reason (times as RFC 3339)',
    run: async ({ grants }, { operands, flags }) => {
      const { grant } = await grants.putGrant({
        userId: userIdOf(operands),
        source: operands[1] ?? '',
        reference: operands[2] ?? '',
        bytes: parseByteSize(flags['bytes'] ?? ''),
        startsAt: parseTime(flags['starts-at'], 'starts_at'),
        endsAt: parseTime(flags['ends-at'], 'ends_at'),
      })
      return grantRow(grant)
    },
  },
  {
    words: ['grants', 'revoke'],
    operands: ['<user_id>', '<source>', '<reference>'],
    flags: [],
    summary: 'revoke such a grant',
    run: async ({ grants }, { operands }) => {
      const [, source = '', reference = ''] = operands
      await grants.revokeGrant({ userId: userIdOf(operands), source, reference })
      return undefined
    },
  },
  {
    words: ['grants', 'list'],
    operands: ['<user_id>'],
    flags: [],
    summary: 'list all grants, devices included',
    run: async ({ grants }, { operands }) =>
      (await grants.listGrants(userIdOf(operands))).map(grantRow),
  },
]

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

function parseTime(text: string | undefined, parameter: string): number | undefined {
  if (text === undefined) return undefined
  const time = RFC_3339.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN
  if (Number.isSafeInteger(time)) return time
  throw new AppError('invalid_parameter', `${parameter} is a time such as 2027-01-31T00:00:00Z.`)
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDay(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function grantRow({ source, reference, bytes, startsAt, endsAt, createdAt }: Grant): Row {
  const times = { starts_at: timeOf(startsAt), ends_at: timeOf(endsAt) }
  return { source, reference, bytes, ...times, created_at: timeOf(createdAt) }
}
