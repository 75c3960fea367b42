import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import { MAX_ARCHIVED_FILES, MAX_ARCHIVED_NAMES } from '../../core/files/archive.ts'
import type { SelectedFiles } from '../../core/files/file-ledger.ts'
import { parseFileName, parseFileNamePrefix } from '../../core/files/file-name.ts'
import { BINARY, type Operation } from '../openapi/operation.ts'
import { Prefix, Query } from '../openapi/parameters.ts'
import { Type } from '../openapi/type.ts'
import { assertQueryDecodable, parseQuery, queryText } from '../server/query.ts'

/** Its routes need the hook `readNames`. */
export const ARCHIVE_QUERY = Query({
  prefix: Prefix(
    `The prefix of the files, at most ${MAX_ARCHIVED_FILES}. Without it and \`name\`, all files. Entry names are relative to ` +
      'the folder that contains it: with `photos/2026/`, they begin with `2026/`.',
    'photos/2026/',
  ),
  name: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: MAX_ARCHIVED_NAMES,
      uniqueItems: true,
      description: `The names of the files, instead of \`prefix\`: the parameter once for each, at most ${MAX_ARCHIVED_NAMES} times.`,
      examples: [['README.md']],
    }),
  ),
})

/** A `preValidation` hook: reads more parameters than other routes have, and makes a list of the names. */
export function readNames(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  // With one name too many, the list is refused.
  const { name, ...query } = parseQuery(queryText(request), MAX_ARCHIVED_NAMES + 2)
  request.query = name === undefined ? query : { ...query, name: [name].flat() }
  done()
}

/** Throws `invalid_parameter` or `invalid_file_name`. */
export function selectedFiles(request: FastifyRequest): SelectedFiles {
  const { prefix, name } = request.query as Static<typeof ARCHIVE_QUERY>
  assertQueryDecodable(request)
  if (name === undefined) return { prefix: parseFileNamePrefix(prefix ?? '') }
  if (prefix === undefined) return { names: name.map(parseFileName) }
  throw invalidParameter('prefix', 'An archive has either a prefix or names.')
}

export const ARCHIVE_RESPONSES = {
  200: {
    description:
      'A ZIP archive without compression, of the versions that are current when the request begins. It can be unpacked ' +
      'while it arrives. `Content-Length` is its size. If a file can no longer be read, the connection is closed before that.',
    headers: ['Cache-Control', 'Content-Disposition'],
    content: { 'application/zip': BINARY },
  },
} as const satisfies Operation['responses']
