import type { Http } from './http.ts'

/** The entries of a listing, read page by page as they are iterated. Each iteration begins anew. */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  /** The pages as the service returns them, for example to show one at a time. */
  pages(): AsyncIterable<Page>
}

export interface ListingOptions {
  /** The `next_cursor` of an earlier page: the listing continues after it. */
  readonly cursor?: string | undefined
  /** The maximum number of entries of a page, 1 to 1,000. The default is 100. */
  readonly limit?: number | undefined
  readonly signal?: AbortSignal | undefined
}

interface Listed<Member> {
  readonly path: string
  readonly options: ListingOptions
  readonly query?: Readonly<Record<string, string | true | undefined>>
  /** The member of a page that has its entries. */
  readonly member: Member
}

export function createListing<
  Page extends { readonly next_cursor: string | null } & Readonly<
    Record<Member, readonly unknown[]>
  >,
  Member extends string,
>(
  http: Http,
  { path, options, query, member }: Listed<Member>,
): Listing<Page[Member][number], Page> {
  async function* pages(): AsyncGenerator<Page> {
    const { limit, signal } = options
    let { cursor } = options
    for (;;) {
      const page = await http.json<Page>({ path, query: { ...query, limit, cursor }, signal })
      yield page
      // A page without entries can have a cursor. Only `null` ends the listing.
      if (page.next_cursor === null) return
      cursor = page.next_cursor
    }
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page[member]
    },
  }
}
