// Writes the types of requests and replies from the OpenAPI documents to src/generated/. They are not committed:
// `npm run check`, the tests and the build of the package call this first.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'

const folder = dirname(dirname(fileURLToPath(import.meta.url)))
const generated = join(folder, 'src', 'generated')

/** Members that only some problems with the code have (docs/api.md, Errors). */
const SOMETIMES = {
  access_token_invalid: ['access_tokens'],
  // A token without `read` does not get the figures of the account.
  capacity_exceeded: ['capacity', 'used', 'reserved', 'available', 'evictable'],
  file_count_exceeded: ['file_count'],
  unfinished_uploads_exceeded: ['unfinished_count', 'unfinished_bytes', 'max_unfinished_uploads'],
}

/** Members of every problem. */
const COMMON = new Set(['type', 'title', 'status', 'detail', 'code', 'request_id'])

mkdirSync(generated, { recursive: true })
const documents = ['openapi.json', 'admin-openapi.json'].map((name) =>
  JSON.parse(readFileSync(join(folder, '..', '..', 'api', name), 'utf8')),
)
const [api, adminApi] = documents
write('api.ts', await typesOf(api))
write('admin-api.ts', await typesOf(adminApi))
write('problem-members.ts', problemMembers())

/** The schemas, and the parameters of each operation. Replies are schemas, so the rest would only repeat them. */
async function typesOf({ openapi, info, paths, components }) {
  const schemas = mapValues(components.schemas, withoutAlternatives)
  const kept = { openapi, info, paths: withQueries(paths), components: { schemas } }
  const options = { alphabetize: true, defaultNonNullable: false, immutable: true }
  return astToString(await openapiTS(kept, options))
}

/** "At least one of these members" has no type. */
function withoutAlternatives({ anyOf, ...schema }) {
  return schema
}

function withQueries(paths) {
  return mapValues(paths, ({ get, post, put }) => mapValues({ get, post, put }, onlyQuery))
}

function onlyQuery({ operationId, parameters = [] }) {
  const query = parameters.filter((parameter) => parameter.in === 'query')
  return query.length === 0 ? undefined : { operationId, parameters: query, responses: {} }
}

/** The members that problems with a code have besides the common ones, by the examples of the documents. */
function problemMembers() {
  const examples = Object.assign({}, ...documents.map(({ components }) => components.examples))
  const lines = Object.values(examples).map(({ value }) => {
    const sometimes = SOMETIMES[value.code] ?? []
    const always = Object.keys(value).filter(
      (name) => !COMMON.has(name) && !sometimes.includes(name),
    )
    return `  ${value.code}: { always: ${unionOf(always)}; sometimes: ${unionOf(sometimes)} }`
  })
  return `export interface ProblemMembers {\n${lines.join('\n')}\n}\n`
}

function unionOf(names) {
  return names.length === 0 ? 'never' : names.map((name) => `'${name}'`).join(' | ')
}

function mapValues(object, map) {
  const mapped = Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, map(value)])
  return Object.fromEntries(mapped.filter(([, value]) => value !== undefined))
}

function write(name, text) {
  writeFileSync(join(generated, name), `// Generated from the OpenAPI documents.\n${text}`)
}
