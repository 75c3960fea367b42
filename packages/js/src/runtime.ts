/** What the client uses of Node.js, Deno and Bun. Declared here, so that the types need no `@types/node`. */
interface Builtins {
  'node:crypto': {
    createHash(algorithm: 'sha256'): {
      update(bytes: Uint8Array): unknown
      digest(encoding: 'hex'): string
    }
  }
  'node:fs/promises': {
    open(path: string): Promise<FileHandle>
    stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }>
  }
}

export interface FileHandle {
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>
  close(): Promise<void>
}

/**
 * A built-in module, or `undefined` in a browser. `process.getBuiltinModule` is made for libraries that also run where
 * there is no such module: bundlers see no import.
 */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: Name) => Builtins[Name] | undefined }
  }
  return process?.getBuiltinModule?.(name)
}
