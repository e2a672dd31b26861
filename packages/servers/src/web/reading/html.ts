/** HTML to Markdown: what the page is about, without its furniture and without what it hides. */

/// <reference lib="dom" />

import { htmlToMarkdown } from "@mdream/js";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { removeHidden } from "./hidden.ts";
import { type Page, UnreadableError } from "./page.ts";

/** What stands around a page's content. */
const FURNITURE =
  "nav, footer, aside, form, button, select, [role='navigation'], [role='banner'], [role='contentinfo'], [role='search'], body > header";
/** Of that, what no article has in it. */
const NAVIGATION = "nav, [role='navigation'], [role='search'], [role='contentinfo'], body > footer";
/** Links that lead somewhere. */
const LINKS = /^(?:https?|mailto|tel):/;
const MAX_FRAMES = 20;
/** What is found to be the article is one by itself, or holds most of the page's text. */
const WHOLE_ARTICLE = 1500;
const MOST_OF_IT = 0.5;
/** Finding the article takes long in what is larger, and by a power of its depth. */
const MAX_ELEMENTS = 20_000;
const MAX_DEPTH = 100;

/**
 * @param url where it was found: what its links are relative to
 * @throws UnreadableError when there is nothing to read
 */
export function readHtml(html: string, url: string): Page {
  const document = parse(html);
  const base = baseOf(document, url);
  const title = titleOf(document);
  const description = meta(document, "description") ?? meta(document, "og:description");
  const frames = framesOf(document, base);
  removeHidden(document);
  for (const frame of document.querySelectorAll("iframe, frame, frameset > noframes")) frame.remove();
  absolute(document, base);
  plainer(document);
  const markdown = [toMarkdown(contentOf(document)), frames].filter((part) => part !== "").join("\n\n");
  if (markdown === "")
    throw new UnreadableError(
      "the page has no text of its own: it may need JavaScript, which is run only by a service such as Firecrawl (FIRECRAWL_API_KEY)",
    );
  return { title, description, markdown };
}

/** Not every page has the elements that every document has, nor attributes in small letters. */
function parse(html: string): Document {
  const content = html.replace(/^\s*(?:(?:<!--[\s\S]*?-->|<[?!][^>]*>)\s*)*/, "");
  const isWhole = /^<html[\s>]/i.test(content);
  const { document } = parseHTML(isWhole ? content : `<html><body>${content}</body></html>`);
  for (const element of document.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      const small = name.toLowerCase();
      if (small === name) continue;
      element.removeAttribute(name);
      if (!element.hasAttribute(small)) element.setAttribute(small, value);
    }
  }
  return document;
}

function baseOf(document: Document, url: string): string {
  const href = document.querySelector("base[href]")?.getAttribute("href") ?? "";
  return URL.canParse(href, url) && /^https?:/.test(new URL(href, url).protocol)
    ? new URL(href, url).href
    : url;
}

function titleOf(document: Document): string | undefined {
  // An <svg> has titles, too.
  const titles = [...document.querySelectorAll("title")].filter((element) => element.closest("svg") === null);
  return text(titles[0]) ?? meta(document, "og:title") ?? text(document.querySelector("h1") ?? undefined);
}

function meta(document: Document, name: string): string | undefined {
  const element = document.querySelector(`meta[name="${name}" i], meta[property="${name}" i]`);
  return element?.getAttribute("content")?.trim() || undefined;
}

function text(element: Element | undefined): string | undefined {
  return element?.textContent?.trim() || undefined;
}

/** A page in a page is another page: it is named, and can be fetched. */
function framesOf(document: Document, base: string): string {
  const links = [...document.querySelectorAll("iframe[src], frame[src]")].flatMap((frame) => {
    const href = resolved(frame.getAttribute("src"), base);
    if (href === undefined || !href.startsWith("http")) return [];
    const name = frame.getAttribute("title") || frame.getAttribute("name") || href;
    return [`- [${name.replace(/[[\]\s]+/g, " ").trim()}](${href})`];
  });
  return links.length === 0 ? "" : `Frames:\n\n${[...new Set(links)].slice(0, MAX_FRAMES).join("\n")}`;
}

function resolved(reference: string | null, base: string): string | undefined {
  return reference !== null && URL.canParse(reference.trim(), base)
    ? new URL(reference.trim(), base).href
    : undefined;
}

/** Every link and image by its whole URL; a link to nowhere becomes its text. */
function absolute(document: Document, base: string): void {
  for (const link of document.querySelectorAll("a[href]")) {
    const href = resolved(link.getAttribute("href"), base);
    if (href !== undefined && LINKS.test(href)) link.setAttribute("href", href);
    else link.removeAttribute("href");
  }
  for (const image of document.querySelectorAll("img")) {
    const source = resolved(image.getAttribute("src") ?? image.getAttribute("data-src"), base);
    if (source?.startsWith("http")) image.setAttribute("src", source);
    else image.remove();
  }
}

/** What Markdown has no words for, in words that it has. */
function plainer(document: Document): void {
  for (const table of document.querySelectorAll("table")) if (isLayout(table)) unfold(document, table);
  for (const term of document.querySelectorAll("dt")) {
    const strong = document.createElement("strong");
    strong.append(...term.childNodes);
    replace(document, term, "p", [strong]);
  }
  for (const part of document.querySelectorAll("dd, summary"))
    replace(document, part, "p", [...part.childNodes]);
  for (const whole of document.querySelectorAll("dl, details"))
    replace(document, whole, "div", [...whole.childNodes]);
}

/** Whether a table places what stands in it: what it holds would not fit into the cell of a table of data. */
function isLayout(table: Element): boolean {
  return table.querySelector("table, h1, h2, h3, p + p, pre, blockquote, form, article, section") !== null;
}

function unfold(document: Document, table: Element): void {
  const own = "tbody, thead, tfoot, tr, td, th";
  const parts = [...table.querySelectorAll(own)].filter((part) => part.closest("table") === table);
  for (const part of [...parts.reverse(), table]) replace(document, part, "div", [...part.childNodes]);
}

function replace(document: Document, element: Element, name: string, children: Node[]): void {
  const plain = document.createElement(name);
  plain.append(...children);
  element.replaceWith(plain);
}

/** The HTML of the article, or of all but the furniture where there is no article. */
function contentOf(document: Document): string {
  // Readability takes the document apart, so the whole is written down before.
  const everything = bodyOf(document);
  for (const element of document.querySelectorAll(NAVIGATION)) element.remove();
  const article = articleOf(document);
  const { document: whole } = parseHTML(`<html><body>${everything}</body></html>`);
  const { body } = whole;
  for (const element of whole.querySelectorAll(FURNITURE)) element.remove();
  const main = body.querySelector("main, [role='main']");
  const rest = main !== null && lengthOf(main) >= lengthOf(body) * MOST_OF_IT ? main : body;
  if (article !== undefined && lengthOf(article) >= Math.min(WHOLE_ARTICLE, lengthOf(rest) * MOST_OF_IT))
    return article.content;
  return lengthOf(rest) > 0 || rest.querySelector("img") !== null ? rest.innerHTML : everything;
}

/** All that stands in the document, but for its head. */
function bodyOf(document: Document): string {
  for (const element of document.querySelectorAll("head, title, meta, link, base")) element.remove();
  const { documentElement } = document;
  const { body } = document;
  return body !== null && lengthOf(body) >= lengthOf(documentElement)
    ? body.innerHTML
    : documentElement.innerHTML;
}

function articleOf(document: Document): { content: string; textContent: string } | undefined {
  if (isLarge(document.documentElement)) return undefined;
  try {
    const found = new Readability(document, { keepClasses: true, charThreshold: 200 }).parse();
    return found?.content && found.textContent
      ? { content: found.content, textContent: found.textContent }
      : undefined;
  } catch {
    return undefined;
  }
}

function isLarge(root: Element): boolean {
  let level: Element[] = [root];
  let elements = 0;
  for (let depth = 0; level.length > 0; depth++) {
    elements += level.length;
    if (depth > MAX_DEPTH || elements > MAX_ELEMENTS) return true;
    level = level.flatMap(({ children }) => [...children]);
  }
  return false;
}

function lengthOf({ textContent }: { textContent: string | null }): number {
  return (textContent ?? "").replace(/\s+/g, " ").trim().length;
}

function toMarkdown(html: string): string {
  const tidy = /<t[rdhb]/i.test(html) ? withoutStrayRows(html) : html;
  try {
    return htmlToMarkdown(tidy, { clean: true }).trim();
  } catch {
    // No page is too strange to be read at all.
    return (parseHTML(`<html><body>${tidy}</body></html>`).document.body.textContent ?? "").trim();
  }
}

/** Readability leaves rows without their tables. */
function withoutStrayRows(html: string): string {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  for (const part of document.querySelectorAll("tbody, thead, tfoot, tr, td, th"))
    if (part.closest("table") === null) replace(document, part, "div", [...part.childNodes]);
  return document.body.innerHTML;
}
