import type { BackupFinding } from '../../core/backup/finding.ts'
import { KEPT_COPIES_RULE, parseKeptCopies } from '../../core/backup/kept-copies.ts'
import { formatByteSize } from '../../core/byte-size.ts'
import { invalidParameter, messageOf } from '../../core/errors.ts'
import type { CommandCall, StandaloneCommand, Terminal, Transfer } from '../command.ts'
import { printFinding, showProgress } from '../progress.ts'
import { Bytes, type Row } from '../render.ts'

export const BACKUP: StandaloneCommand = {
  usage: 'backup <directory> [--keep ...] [--check]',
  summary:
    'add a copy of the embedded database and local files to a folder, or check it; s3://bucket/key: the database alone',
  runAlone: async (call) => {
    const { directory = '' } = call.operands
    const [keep, checks] = [keptBy(call), call.switches.has('check')]
    if (directory.startsWith('s3://')) return await send(call, directory)
    return checks ? await check(call, directory) : await backUp(call, { directory, keep })
  },
}

async function backUp(
  call: CommandCall,
  { directory, keep }: { readonly directory: string; readonly keep: number | undefined },
): Promise<Row> {
  const { copies, interruption } = call
  const done = await copies.backUp({
    directory,
    keep,
    onFinding: reportTo(call),
    onProgress: showProgress(call, ({ objects }) => `${objects} objects copied`),
    signal: interruption(),
  })
  return {
    directory,
    copy: done.copy,
    files: done.files,
    versions: done.versions,
    bytes: new Bytes(done.bytes),
    copied: done.objects,
    copied_bytes: new Bytes(done.objectBytes),
    copies: done.copies,
    removed_copies: done.removedCopies,
    removed: done.removedObjects,
  }
}

async function check(call: CommandCall, directory: string): Promise<Row> {
  const { copies, interruption } = call
  let findings = 0
  const report = reportTo(call)
  const done = await copies.check({
    directory,
    onFinding: (finding) => {
      findings += 1
      report(finding)
    },
    onProgress: showProgress(call, ({ objects }) => `${objects} objects read`),
    onWait: waiting(call),
    signal: interruption(),
  })
  const { objects, objectBytes } = done
  return { directory, copies: done.copies, objects, bytes: new Bytes(objectBytes), findings }
}

function keptBy({ flags: { keep } }: CommandCall): number | undefined {
  if (keep === undefined) return undefined
  try {
    return parseKeptCopies(keep)
  } catch {
    throw invalidParameter('keep', `--keep ${KEPT_COPIES_RULE}.`)
  }
}

async function send(call: CommandCall, target: string): Promise<Row> {
  const { copies, interruption } = call
  using transfer = showTransfer(call)
  const { onProgress } = transfer
  return resultOf({ target }, await copies.send({ target, onProgress, signal: interruption() }))
}

export const RESTORE: StandaloneCommand = {
  usage: 'restore <directory> [--copy ...]',
  summary: 'restore a copy in a folder to an empty DATA_DIR; s3://bucket/key: the database alone',
  runAlone: async (call) => {
    const { directory = '' } = call.operands
    return directory.startsWith('s3://') ? await fetch(call, directory) : await restore(call)
  },
}

async function restore(call: CommandCall): Promise<Row> {
  const { operands, flags, copies, interruption, printError } = call
  const { directory = '' } = operands
  const restored = await copies.restoreFrom({
    directory,
    time: flags['copy'],
    onFinding: reportTo(call),
    onProgress: showProgress(call, ({ objects }) => `${objects} objects copied`),
    onWait: waiting(call),
    signal: interruption(),
  })
  printError(`The service can start. ${REVOKE_AGAIN}`)
  return { directory, ...restored, bytes: new Bytes(restored.bytes) }
}

const REVOKE_AGAIN =
  'What was revoked, suspended or removed since the copy was made is in force again: revoke tokens and links, suspend ' +
  'users, and end grants, devices and operators once more.'

async function fetch(call: CommandCall, source: string): Promise<Row> {
  const { copies, interruption, printError } = call
  using transfer = showTransfer(call)
  const { onProgress } = transfer
  const restored = await copies.restore({ source, onProgress, signal: interruption() })
  printError(NEXT_STEP)
  return resultOf({ source, database: restored.database }, restored)
}

/** Otherwise, when an upload that was finished after the copy was made expires, its object is removed. */
const NEXT_STEP = 'Run "cloud-repo uploads release --finished" before you start the service.'

function waiting({ operands: { directory }, printError }: CommandCall): () => void {
  return () => printError(`A backup to ${directory} is running. Waiting for its end.`)
}

function reportTo(call: CommandCall): (finding: BackupFinding) => void {
  return ({ kind, copy, content, recorded, found }) => {
    call.fail()
    printFinding(call, {
      kind,
      copy: copy ?? null,
      user_id: content?.userId ?? null,
      file_name: content?.name ?? null,
      object_key: content?.key ?? null,
      recorded: sized(recorded),
      found: sized(found),
    })
  }
}

function sized(value: number | string | undefined): Bytes | string | null {
  return typeof value === 'number' ? new Bytes(value) : (value ?? null)
}

export const COPY_PACK: StandaloneCommand = {
  usage: 'pack copy <from> <to>',
  summary: 'copy the small objects that one pack file has and another lacks; services can use both',
  runAlone: async (call) => {
    const { operands, copies, interruption, fail } = call
    const { from = '', to = '' } = operands
    const { objects, bytes } = await copies.pack({
      from,
      to,
      onProgress: showProgress(call, (copied) => `${copied.objects} objects copied`),
      onUnreadable: ({ objectKey, reason }) => {
        fail()
        const kind = 'unreadable_object'
        printFinding(call, { kind, object_key: objectKey, reason: messageOf(reason) })
      },
      signal: interruption(),
    })
    return { from, to, objects, bytes: new Bytes(bytes) }
  },
}

function resultOf(places: Row, { bytes }: { readonly bytes: number }): Row {
  return { ...places, bytes: new Bytes(bytes) }
}

const BAR_WIDTH = 30

/** Draws a bar on a terminal; elsewhere prints every 10 s. Disposal clears the bar. */
export function showTransfer(terminal: Terminal) {
  const { drawLine } = terminal
  const describe = ({ moved, total }: Transfer): string =>
    `${formatByteSize(moved)} of ${formatByteSize(total)}`
  const say = showProgress(terminal, describe)
  const onProgress = (transfer: Transfer): void => {
    if (drawLine === undefined) return say(transfer)
    const share = Math.min(1, transfer.moved / Math.max(1, transfer.total))
    const filled = Math.round(share * BAR_WIDTH)
    const bar = '#'.repeat(filled).padEnd(BAR_WIDTH, '.')
    drawLine(`[${bar}] ${Math.floor(share * 100)} %  ${describe(transfer)}`)
  }
  return { onProgress, [Symbol.dispose]: () => drawLine?.('') }
}
