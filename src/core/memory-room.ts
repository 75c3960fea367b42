/** Whoever takes room. */
export interface Tenant {
  /** Its place in the line when it asks for more: the lowest goes first. */
  readonly turn: number
}

export interface MemoryRoomOptions {
  /** Bytes in all. */
  readonly bytes: number
  /** Bytes of these that only one tenant at a time may take, for one that could go on with nothing else. */
  readonly reserve: number
}

interface Claim {
  readonly tenant: Tenant
  readonly turn: number
  readonly bytes: number
  readonly grant: () => void
}

/**
 * Shares out a number of bytes. Claims that do not fit wait for their turn.
 *
 * It never comes to a standstill as long as no tenant needs more than the reserve to have gathered something that it can
 * give back: when the rest is taken, the first of those who wait takes from the reserve, until it has gathered that, and
 * nobody else does before it has given it back.
 */
export class MemoryRoom {
  readonly #bytes: number
  readonly #reserve: number
  #free: number
  /** Sorted by turn. */
  #claims: Claim[] = []
  #givenBack = 0
  #inReserve: { readonly tenant: Tenant; bytes: number; hasGathered: boolean } | undefined

  constructor({ bytes, reserve }: MemoryRoomOptions) {
    this.#bytes = bytes
    this.#free = bytes
    this.#reserve = reserve
  }

  /** Bytes that anyone could take now. */
  get free(): number {
    return this.#free - this.#reserve + (this.#inReserve?.bytes ?? 0)
  }

  /** Bytes that tenants have. */
  get taken(): number {
    return this.#bytes - this.#free
  }

  /** How many tenants wait. */
  get waiting(): number {
    return this.#claims.length
  }

  /** Bytes for which tenants wait. */
  get wanted(): number {
    return this.#claims.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Bytes that tenants have given back so far, by which those who wait see whether the line moves. */
  get givenBack(): number {
    return this.#givenBack
  }

  /** Takes `bytes`, or says that they are not there. Nobody overtakes those who wait, but for the user of the reserve. */
  take(tenant: Tenant, bytes: number): boolean {
    const isFirst = this.#claims.length === 0 || this.#isUser(tenant)
    if (!isFirst || !this.#fits(tenant, bytes)) return false
    this.#hand(tenant, bytes)
    return true
  }

  /** Calls `grant` once the bytes are the tenant's, unless the claim is withdrawn before by what it returns. */
  claim(tenant: Tenant, { bytes, grant }: Pick<Claim, 'bytes' | 'grant'>): () => void {
    const claim = { tenant, turn: tenant.turn, bytes, grant }
    const later = this.#claims.findIndex((other) => other.turn > claim.turn)
    this.#claims.splice(later < 0 ? this.#claims.length : later, 0, claim)
    this.#grantAll()
    return () => {
      this.#claims = this.#claims.filter((other) => other !== claim)
      this.#grantAll()
    }
  }

  /**
   * The tenant has gathered what it will give back. What it takes from now on for more is not the reserve's: held on to, it
   * would be missing for the next.
   */
  gathered(tenant: Tenant): void {
    if (this.#inReserve?.tenant === tenant) this.#inReserve.hasGathered = true
  }

  /** Gives back bytes of a tenant, which is out of the reserve then. */
  give(tenant: Tenant, bytes: number): void {
    this.#free += bytes
    this.#givenBack += bytes
    if (this.#inReserve?.tenant === tenant) this.#inReserve = undefined
    this.#grantAll()
  }

  #grantAll(): void {
    for (let first = this.#claims[0]; first !== undefined; first = this.#claims[0]) {
      if (!this.#fits(first.tenant, first.bytes)) return
      this.#claims.shift()
      this.#hand(first.tenant, first.bytes)
      first.grant()
    }
  }

  #fits(tenant: Tenant, bytes: number): boolean {
    if (bytes <= this.free) return true
    const mayUseReserve = this.#inReserve === undefined || this.#isUser(tenant)
    return mayUseReserve && bytes <= this.#free
  }

  #hand(tenant: Tenant, bytes: number): void {
    const beyond = bytes - Math.max(0, this.free)
    this.#free -= bytes
    if (this.#isUser(tenant) && this.#inReserve !== undefined) this.#inReserve.bytes += bytes
    else if (beyond > 0) this.#inReserve = { tenant, bytes: beyond, hasGathered: false }
  }

  #isUser(tenant: Tenant): boolean {
    return this.#inReserve?.tenant === tenant && !this.#inReserve.hasGathered
  }
}
