import type { AppendObject, Durable, Piece } from '../../../core/objects/append-store.ts'
import type { OpenMultipart } from '../multipart-upload.ts'
import { formatObjectState, type ObjectState } from './store-state.ts'

/** Tracks what is durable of an append. Parts can complete in any order. */
export class Progress {
  readonly #append: Pick<AppendObject, 'offset' | 'onDurable'>
  #state: ObjectState
  readonly #pieces: Piece[] = []
  /** Completed parts that wait for an earlier part, by first byte. */
  readonly #early = new Map<number, Piece>()
  #next: number
  #isFinished = false
  #isOver = false

  /** `partStart`: first byte of the first part that the append can send. */
  constructor(
    append: Pick<AppendObject, 'offset' | 'onDurable'>,
    { state, partStart }: { readonly state: ObjectState; readonly partStart: number },
  ) {
    this.#append = append
    this.#state = state
    this.#next = partStart
  }

  /** Whether no piece has become durable. */
  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  durable(): Durable {
    const last = this.#pieces.at(-1)
    return {
      offset: last === undefined ? this.#append.offset : last.firstByte + last.size,
      replacedFrom: this.#pieces[0]?.firstByte ?? this.#append.offset,
      pieces: [...this.#pieces],
      storeState: formatObjectState(this.#state),
      isFinished: this.#isFinished,
    }
  }

  /** Called when the state of the claim no longer holds. */
  reportState(): void {
    this.#report()
  }

  /** The upload that the next parts go to. */
  setMultipart(multipart: OpenMultipart): void {
    this.#state = { ...this.#state, multipart }
    this.#report()
  }

  addPart(part: Piece): void {
    this.#early.set(part.firstByte, part)
    const before = this.#pieces.length
    for (let next = this.#early.get(this.#next); next; next = this.#early.get(this.#next)) {
      this.#early.delete(next.firstByte)
      this.#pieces.push(next)
      this.#next += next.size
    }
    if (this.#pieces.length > before) this.#report()
  }

  /** A tail, after all parts. */
  addTail(piece: Piece): void {
    this.#pieces.push(piece)
    this.#report()
  }

  /** The whole content, stored as the object itself. Empty content has no piece. */
  addWhole(piece: Piece, isConfirmed: boolean): void {
    if (piece.size > 0) this.#pieces.push(piece)
    this.#isFinished = isConfirmed && this.#state.mayHaveStray !== true
    this.#state = { ...this.#state, whole: 'stored' }
    this.#report()
  }

  /** Stops reporting; called when the append has failed. */
  end(): void {
    this.#isOver = true
  }

  #report(): void {
    if (!this.#isOver) this.#append.onDurable(this.durable())
  }
}
