// Fails on a regular expression whose time can grow faster than its input, since clients choose what most expressions
// read. Checks literals, `new RegExp`, the patterns of JSON schemas (`pattern`, `..._PATTERN`), and refuses an
// expression whose text is not constant. Keeps the verdicts, because reaching all of them takes some ten seconds.
import { globSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { check } from 'recheck'
import { parseSync, Visitor } from 'vite'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { version } = createRequire(import.meta.url)('recheck/package.json')
const KEPT = join(root, 'node_modules', '.cache', `regexps-${version}.json`)

const CHECKED = ['src', 'web', 'scripts', 'packages/js/src'].map((folder) => join(root, folder))

/** Not kept: on a busy machine, an expression can take too long to check. */
const UNKNOWN = 'cannot be checked'
const NOT_CONSTANT = 'build it from constants of the same file, so that it can be checked'

// Neither Java nor a native program.
process.env.RECHECK_BACKEND = 'pure'

const folders = process.argv.length > 2 ? process.argv.slice(2) : CHECKED
const files = folders.flatMap((path) => (statSync(path).isFile() ? [path] : programsIn(path)))
const found = files.flatMap((file) => regexpsIn(file, readFileSync(file, 'utf8')))
const verdicts = await verdictsOn(found)
const faults = found.flatMap((regexp) => {
  const fault = regexp.pattern === undefined ? NOT_CONSTANT : verdicts[textOf(regexp)]
  return fault === ''
    ? []
    : [`${relative('', regexp.file)}:${regexp.line}: ${textOf(regexp)}: ${fault}`]
})
for (const fault of faults) console.error(fault)
console.log(`Checked ${found.length} regular expressions: ${faults.length} faults.`)
process.exitCode = faults.length > 0 ? 1 : 0

function programsIn(folder) {
  const names = globSync(join(folder, '**', '*.{ts,tsx,mts,js,mjs}'))
  return names.filter((name) => !name.endsWith('.test.ts')).toSorted()
}

/** Each with `file`, `line`, `pattern` and `flags`. The `pattern` is `undefined` if it is not constant. */
function regexpsIn(file, source) {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  const constants = constantsOf(program)
  const all = []
  const add = ({ start }, pattern, flags) => {
    all.push({ file, line: source.slice(0, start).split('\n').length, pattern, flags })
  }
  const addCall = (node) => {
    const [pattern, flags] = node.arguments
    if (node.callee.name !== 'RegExp') return
    const known = flags === undefined ? '' : valueOf(flags, constants)
    add(node, known === undefined ? undefined : valueOf(pattern, constants), known)
  }
  // JSON Schema patterns have the flag `u`. A pattern with a name is checked where it is declared.
  const addPattern = (node, name, value) => {
    const pattern = value === null ? undefined : valueOf(value, constants)
    if (/(?:^pattern|_PATTERN)$/.test(name) && pattern !== undefined) add(node, pattern, 'u')
  }
  new Visitor({
    Literal: (node) => node.regex && add(node, node.regex.pattern, node.regex.flags),
    NewExpression: addCall,
    CallExpression: addCall,
    Property: (node) => addPattern(node, node.key.name, node.value),
    VariableDeclarator: (node) => addPattern(node, node.id.name, node.init),
  }).visit(program)
  return all
}

/** The initial values of the file's own constants, by name. */
function constantsOf(program) {
  const statements = program.body.map((statement) => statement.declaration ?? statement)
  const declared = statements.filter(({ kind }) => kind === 'const')
  const pairs = declared.flatMap(({ declarations }) => declarations)
  return new Map(pairs.map(({ id, init }) => [id.name, init]))
}

/** The text or the list that the expression always has, else `undefined`. */
function valueOf(node, constants) {
  const evaluate = (part) => valueOf(part, constants)
  switch (node?.type) {
    case 'Literal':
      return node.regex?.pattern ?? (typeof node.value === 'string' ? node.value : undefined)
    case 'Identifier':
      return evaluate(constants.get(node.name))
    case 'ArrayExpression':
      return whole(node.elements.map(evaluate))
    case 'TemplateLiteral':
      return textOfTemplate(node, 'cooked', evaluate)
    case 'TaggedTemplateExpression':
      return isMember(node.tag, 'raw') ? textOfTemplate(node.quasi, 'raw', evaluate) : undefined
    case 'MemberExpression':
      return isMember(node, 'source') ? evaluate(node.object) : undefined
    case 'CallExpression':
      return isMember(node.callee, 'join')
        ? evaluate(node.callee.object)?.join(evaluate(node.arguments[0]))
        : undefined
    default:
      return undefined
  }
}

function textOfTemplate({ quasis, expressions }, form, evaluate) {
  const values = whole(expressions.map(evaluate))
  return values && quasis.map(({ value }, at) => value[form] + (values[at] ?? '')).join('')
}

function whole(values) {
  return values.includes(undefined) ? undefined : values
}

function isMember(node, name) {
  return node.type === 'MemberExpression' && node.property.name === name
}

/** By the text of the expression: what is wrong with it, or an empty string. */
async function verdictsOn(regexps) {
  const known = readKept()
  const wanted = regexps.filter(({ pattern }) => pattern !== undefined)
  const verdicts = {}
  for (const regexp of wanted) {
    const text = textOf(regexp)
    verdicts[text] ??= known[text] ?? (await verdictOn(regexp))
  }
  const isSure = ([, verdict]) => !verdict.startsWith(UNKNOWN)
  keep(Object.fromEntries(Object.entries({ ...known, ...verdicts }).filter(isSure)))
  return verdicts
}

async function verdictOn({ pattern, flags }) {
  const { status, complexity, error, attack } = await check(pattern, flags)
  if (status === 'safe') return ''
  if (status === 'unknown') return `${UNKNOWN}: ${error.kind}. Simplify it.`
  return `${complexity.summary} time, for example for ${attack.pattern}`
}

function textOf({ pattern, flags }) {
  return pattern === undefined ? 'RegExp' : `/${pattern}/${flags}`
}

function readKept() {
  try {
    return JSON.parse(readFileSync(KEPT, 'utf8'))
  } catch {
    return {}
  }
}

/** Another run can read the file at any time. */
function keep(verdicts) {
  mkdirSync(dirname(KEPT), { recursive: true })
  writeFileSync(`${KEPT}.${process.pid}`, JSON.stringify(verdicts))
  renameSync(`${KEPT}.${process.pid}`, KEPT)
}
