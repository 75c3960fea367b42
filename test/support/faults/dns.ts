import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** Answers every question for an IPv4 address with all of `addresses`, and every other one with none (RFC 1035). */
export async function startDns(
  addresses: readonly string[],
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    socket.send(answerTo(query, addresses), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const stop = async (): Promise<void> => {
    const closed = once(socket, 'close')
    socket.close()
    await closed
  }
  return { port: socket.address().port, stop }
}

const HEAD_BYTES = 12
const TYPE_A = 1
const SECONDS_TO_LIVE = 1

function answerTo(query: Buffer, addresses: readonly string[]): Buffer {
  const nameEnd = query.indexOf(0, HEAD_BYTES) + 1
  const question = query.subarray(HEAD_BYTES, nameEnd + 4)
  const found = query.readUInt16BE(nameEnd) === TYPE_A ? addresses : []
  const head = Buffer.from(query.subarray(0, HEAD_BYTES))
  // A response, recursion available, one question, that many answers, nothing else.
  head.writeUInt16BE(0x8180, 2)
  ;[1, found.length, 0, 0].forEach((count, at) => head.writeUInt16BE(count, 4 + 2 * at))
  return Buffer.concat([head, question, ...found.map(record)])
}

function record(address: string): Buffer {
  const bytes = Buffer.alloc(16)
  // The name is that of the question.
  bytes.writeUInt16BE(0xc000 + HEAD_BYTES, 0)
  bytes.writeUInt16BE(TYPE_A, 2)
  bytes.writeUInt16BE(1, 4)
  bytes.writeUInt32BE(SECONDS_TO_LIVE, 6)
  bytes.writeUInt16BE(4, 10)
  Buffer.from(address.split('.').map(Number)).copy(bytes, 12)
  return bytes
}
