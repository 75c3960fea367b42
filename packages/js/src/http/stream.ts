/** A stream that reads nothing before its consumer asks for it. `read` resolves to `undefined` at the end. */
export function streamOf(
  read: () => Promise<Uint8Array | undefined>,
  cancel: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await read()
        if (bytes === undefined) controller.close()
        else controller.enqueue(bytes)
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
}
