import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Generator, runIn, wordsOf } from './generator.ts'

interface TypeScriptGenerator {
  readonly title: string
  /** Of npm, with their versions. */
  readonly packages: readonly string[]
  readonly config?: readonly [name: string, content: string]
  readonly command: string
  readonly program: string
  /** The file with the operations. */
  readonly operations: string
  /** What stands there of each. */
  readonly mark: (operationId: string) => string
}

const TSC = resolve('node_modules/.bin/tsc')

const COMPILER_OPTIONS = {
  strict: true,
  target: 'es2023',
  module: 'commonjs',
  moduleResolution: 'bundler',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: ['node'],
  typeRoots: [resolve('node_modules/@types')],
  rootDir: '.',
  outDir: 'out',
}

function typeScript(generator: TypeScriptGenerator): Generator {
  const { title, packages, config, command, program, operations, mark } = generator
  return {
    title,
    command,
    probe: ['npm', '--version'],
    async prepare(folder) {
      await writeFile(join(folder, 'package.json'), '{}')
      const options = ['--no-audit', '--no-fund', '--ignore-scripts']
      await runIn(folder, ['npm', 'install', ...options, ...packages])
      if (config !== undefined) await writeFile(join(folder, config[0]), config[1])
      await writeFile(join(folder, 'program.ts'), WHOLE_PROGRAM(program))
      const settings = { compilerOptions: COMPILER_OPTIONS, include: ['*.ts', 'client/**/*.ts'] }
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    },
    async generate(folder) {
      const printed = await runIn(folder, wordsOf(command))
      return printed
        .split('\n')
        .filter((line) => /warn|error|skip/i.test(line))
        .join('\n')
    },
    compile: async (folder) => void (await runIn(folder, [TSC, '-p', '.'])),
    async hasOperation(folder) {
      const text = await readFile(join(folder, operations), 'utf8')
      return (id) => text.includes(mark(id))
    },
    async run(folder, environment) {
      await runIn(folder, [process.execPath, 'out/program.js'], environment)
    },
  }
}

const WHOLE_PROGRAM = (
  program: string,
): string => `import { readFile, writeFile } from 'node:fs/promises'
${program}
async function main(): Promise<void> {
  const content = await readFile('sent')
  await put('raw/a b', content)
  await form('form/a b', content)
  await writeFile('received-raw', Buffer.from(await get('raw/a b')))
  await writeFile('received-form', Buffer.from(await get('form/a b')))
}

void main()
`

const OPENAPI_TYPESCRIPT = typeScript({
  title: 'openapi-typescript',
  packages: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'],
  command: 'npx openapi-typescript openapi.json -o client.ts',
  operations: 'client.ts',
  mark: (id) => `\n    ${id}: {\n`,
  program: `import createClient from 'openapi-fetch'
import type { paths } from './client'

const { BASE_URL: baseUrl = '', ACCESS_TOKEN = '' } = process.env
const headers = { Authorization: \`Bearer \${ACCESS_TOKEN}\` }
const client = createClient<paths>({ baseUrl, headers })
const path = (file_name: string) => ({ params: { path: { file_name } } })

async function put(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
  const { error } = await client.PUT('/users/me/repo/{file_name}', {
    ...path(name),
    headers: { 'Content-Type': 'application/octet-stream' },
    body: '',
    bodySerializer: () => content,
  })
  if (error !== undefined) throw new Error(error.code)
}

async function form(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
  const body = new FormData()
  body.append('file', new Blob([content]))
  const { error } = await client.POST('/users/me/repo/{file_name}', {
    ...path(name),
    body: { file: '' },
    bodySerializer: () => body,
  })
  if (error !== undefined) throw new Error(error.code)
}

async function get(name: string): Promise<ArrayBuffer> {
  const options = { ...path(name), parseAs: 'arrayBuffer' } as const
  const { data, error } = await client.GET('/users/me/repo/{file_name}', options)
  if (error !== undefined || data === undefined) throw new Error(error?.code)
  return data
}
`,
})

const HEY_API = typeScript({
  title: '@hey-api/openapi-ts',
  // It does not run with TypeScript 7.
  packages: ['@hey-api/openapi-ts@0.99.0', 'typescript@5.9.3'],
  command: 'npx openapi-ts -i openapi.json -o client',
  operations: 'client/sdk.gen.ts',
  mark: (id) => `export const ${id} = `,
  program: `import { downloadFile, putFile, uploadFile } from './client'
import { client } from './client/client.gen'

const { BASE_URL: baseUrl = '', ACCESS_TOKEN: auth = '' } = process.env
client.setConfig({ baseUrl, auth, throwOnError: true })

async function put(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
  const path = { file_name: name }
  const { data } = await putFile<true>({ path, body: new Blob([content]) })
  if (data.size !== content.length) throw new Error('another size')
}

async function form(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
  const path = { file_name: name }
  await uploadFile<true>({ path, body: { file: new Blob([content]) } })
}

async function get(name: string): Promise<ArrayBuffer> {
  const { data } = await downloadFile<true>({ path: { file_name: name } })
  return data.arrayBuffer()
}
`,
})

const ORVAL = typeScript({
  title: 'orval',
  packages: ['orval@8.38.0'],
  config: [
    'orval.config.mjs',
    `export default {
  api: {
    input: 'openapi.json',
    output: { target: 'client.ts', client: 'fetch', baseUrl: 'http://service.invalid' },
  },
}
`,
  ],
  command: 'npx orval --config orval.config.mjs',
  operations: 'client.ts',
  mark: (id) => `export const ${id} = async `,
  program: `import { downloadFile, putFile, uploadFile } from './client'

const { BASE_URL = '', ACCESS_TOKEN = '' } = process.env
const options = { headers: { Authorization: \`Bearer \${ACCESS_TOKEN}\` } }
const { fetch: send } = globalThis
globalThis.fetch = (url, init) => send(String(url).replace('http://service.invalid', BASE_URL), init)

async function put(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
  const { status, data } = await putFile(encodeURIComponent(name), new Blob([content]), {}, options)
  if (status !== 200) throw new Error(data.code)
}

async function form(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
  const body = { file: new Blob([content]) }
  const { status, data } = await uploadFile(encodeURIComponent(name), body, {}, options)
  if (status !== 200) throw new Error(data.code)
}

async function get(name: string): Promise<ArrayBuffer> {
  const { status, data } = await downloadFile(encodeURIComponent(name), {}, options)
  if (status !== 200) throw new Error(String(status))
  return data.arrayBuffer()
}
`,
})

export const TYPESCRIPT_GENERATORS = [OPENAPI_TYPESCRIPT, HEY_API, ORVAL]
