import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { AdminCommand } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { formOf } from '../../src/cli/usage.ts'
import { DESCRIBED, type DescribedOperation } from '../catalogue/api-operations.ts'
import { DOCUMENT_FILES } from '../openapi/documents.ts'

/** Operations without a row, and what an operator with a shell has instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  downloadUserArchive: 'files archive',
  getDocs: 'the documents',
  getOpenApi: 'the documents',
  getLiveness: 'doctor',
  getReadiness: 'doctor',
  getSession: 'no sign-in',
  openSession: 'no sign-in',
  closeSession: 'no sign-in',
}

const operations = DESCRIBED.filter(({ listener }) => listener === 'admin')

const rows = COMMANDS.flatMap((command) =>
  'calls' in command
    ? command.calls.map(([method, path]) => [`${method} ${path}`, command] as const)
    : [],
)

const calledBy = ({ method, template }: DescribedOperation): readonly AdminCommand[] =>
  rows.flatMap(([call, command]) => (call === `${method} ${template}` ? [command] : []))

describe('the command line', () => {
  it('has a command for each operation of the admin API, and calls no other', () => {
    const missing = operations.filter((each) => calledBy(each).length === 0).map(({ id }) => id)
    expect(missing.toSorted()).toEqual(Object.keys(INSTEAD).toSorted())
    const known = new Set(operations.map(({ method, template }) => `${method} ${template}`))
    expect(rows.map(([call]) => call).filter((call) => !known.has(call))).toEqual([])
  })

  it.each(rows)('has operands for the path of %s', (call, command) => {
    const named = [...call.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const { operands, requiredOperands } = formOf(command)
    const isOptional = command.calls.length > 1
    expect(operands.slice(0, named.length)).toEqual(named)
    const others = isOptional ? [] : operands.slice(named.length)
    expect(others.filter((name) => !(name in inputOf(command)))).toEqual([])
    expect(requiredOperands).toBe(isOptional ? 0 : operands.length)
  })

  it.each(operations.filter((each) => calledBy(each).length > 0))(
    'has options for all that $id takes',
    async (operation) => {
      const taken = operation.method === 'GET' ? operation.queries : await membersOf(operation)
      for (const command of calledBy(operation)) {
        expect(Object.keys(inputOf(command)).toSorted()).toEqual(taken.toSorted())
      }
    },
  )
})

/** What a command sends that has all of its options. */
function inputOf(command: AdminCommand): object {
  const { operands, options } = formOf(command)
  const names = Object.keys(options)
  const valued = names.filter((name) => options[name]?.type === 'string')
  const others = operands.filter((name) => command.calls.every(([, path]) => !path.includes(name)))
  const flags = Object.fromEntries([...others, ...valued].map((name) => [name, '1']))
  return command.input?.(flags, new Set(names)) ?? flags
}

interface Schema {
  readonly $ref?: string
  readonly properties?: object
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly requestBody?: Body }>>>
  >
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: Schema } }
}

/** The members of the request's body. */
async function membersOf({ method, template }: DescribedOperation): Promise<readonly string[]> {
  const { paths, components } = JSON.parse(await readFile(DOCUMENT_FILES.admin, 'utf8')) as Document
  const body = paths[template]?.[method.toLowerCase()]?.requestBody
  const schema = body?.content['application/json'].schema ?? {}
  const { properties = {} } = components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema
  return Object.keys(properties)
}
