import type { Random } from '../simulation/plan/random.ts'
import {
  ANYWHERE,
  CHUNK_PIECES,
  FORM_PIECES,
  HEADER_LINES,
  PART_LINES,
  WORDS,
} from './hostile-bytes.ts'
import { RESUMABLE_LINES, RESUMABLE_WORDS } from './resumable/hostile-lines.ts'

/** Changes the bytes of a request in one to four ways. */
export function mutate(bytes: Buffer, random: Random): Buffer {
  let mutated = bytes
  const times = random.pick([1, 1, 1, 2, 2, 3, 4])
  for (let time = 0; time < times; time++) {
    mutated = Buffer.from(random.pick(MUTATIONS)(mutated.toString('latin1'), random), 'latin1')
  }
  return mutated
}

type Mutation = (text: string, random: Random) => string

const MUTATIONS: readonly [Mutation, ...Mutation[]] = [
  flipBits,
  truncate,
  duplicate,
  remove,
  insertAnywhere,
  insertAnywhere,
  insertHeader,
  insertHeader,
  insertHeader,
  insertPartLine,
  insertPartLine,
  insertFormPiece,
  insertChunk,
  insertChunk,
  replaceWord,
  replaceWord,
  replaceWord,
  replaceWord,
  fitLength,
]

function flipBits(text: string, random: Random): string {
  const bytes = Buffer.from(text, 'latin1')
  const times = random.pick([1, 1, 2, 8])
  for (let time = 0; time < times && bytes.length > 0; time++) {
    const at = random.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  }
  return bytes.toString('latin1')
}

function truncate(text: string, random: Random): string {
  return text.slice(0, random.below(text.length + 1))
}

function duplicate(text: string, random: Random): string {
  const from = random.below(text.length + 1)
  const to = from + random.below(Math.min(200, text.length - from) + 1)
  return text.slice(0, to) + text.slice(from)
}

function remove(text: string, random: Random): string {
  const from = random.below(text.length + 1)
  return text.slice(0, from) + text.slice(from + random.pick([1, 1, 2, 4, 20]))
}

function insertAnywhere(text: string, random: Random): string {
  return insertAt(text, random.below(text.length + 1), random.pick(ANYWHERE))
}

/** After one of the lines of the request's head. */
function insertHeader(text: string, random: Random): string {
  const head = text.indexOf('\r\n\r\n')
  const lines = placesOf(text.slice(0, head + 2), '\r\n')
  return insertAt(text, pickPlace(lines, random) + 2, `${random.pick(LINES)}\r\n`)
}

/** After one of the lines behind the request's head. */
function insertPartLine(text: string, random: Random): string {
  return insertInBody(text, random, `${random.pick(PART_LINES)}\r\n`)
}

function insertFormPiece(text: string, random: Random): string {
  return insertInBody(text, random, random.pick(FORM_PIECES))
}

function insertChunk(text: string, random: Random): string {
  return insertInBody(text, random, random.pick(CHUNK_PIECES))
}

function insertInBody(text: string, random: Random, piece: string): string {
  const head = Math.max(0, text.indexOf('\r\n\r\n') + 2)
  const lines = placesOf(text.slice(head), '\r\n').map((at) => head + at)
  return fitLength(insertAt(text, pickPlace(lines, random) + 2, piece), random)
}

function replaceWord(text: string, random: Random): string {
  const present = ALL_WORDS.filter(([from]) => text.includes(from))
  const [from, to] = present[random.below(present.length)] ?? ['', [''] as const]
  const at = pickPlace(placesOf(text, from), random)
  const replaced = text.slice(0, at) + random.pick(to) + text.slice(at + from.length)
  return at > text.indexOf('\r\n\r\n') ? fitLength(replaced, random) : replaced
}

/** Mostly makes the length right again, so that what was changed in the body is what is looked at. */
function fitLength(text: string, random: Random): string {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1 || random.chance(0.2)) return text
  const length = text.length - head - 4
  return (
    text.slice(0, head).replace(/^Content-Length: \d+$/m, `Content-Length: ${length}`) +
    text.slice(head)
  )
}

const LINES = [...HEADER_LINES, ...RESUMABLE_LINES] as const
const ALL_WORDS = [...WORDS, ...RESUMABLE_WORDS]

function insertAt(text: string, at: number, piece: string): string {
  return text.slice(0, at) + piece + text.slice(at)
}

function placesOf(text: string, piece: string): number[] {
  if (piece === '') return []
  const places: number[] = []
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + 1)) places.push(at)
  return places
}

function pickPlace(places: readonly number[], random: Random): number {
  return places[random.below(places.length)] ?? 0
}
