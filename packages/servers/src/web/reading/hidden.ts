/** What a page holds that no reader sees: it is taken out before a model reads the page. */

/// <reference lib="dom" />

const NEVER_SHOWN =
  "script, style, noscript, template, object, embed, applet, canvas, svg, audio, video, dialog:not([open]), [hidden], [aria-hidden='true']";

const HIDING: readonly RegExp[] = [
  /(?:^|;)\s*display\s*:\s*none/i,
  /(?:^|;)\s*visibility\s*:\s*(?:hidden|collapse)/i,
  /(?:^|;)\s*opacity\s*:\s*0*\.?0*\s*(?:;|!|$)/i,
  /(?:^|;)\s*font-size\s*:\s*0*\.?0*(?:px|pt|r?em|%)?\s*(?:;|!|$)/i,
  /(?:^|;)\s*color\s*:\s*transparent/i,
  /(?:^|;)\s*text-indent\s*:\s*-\d{3}/i,
  /(?:^|;)\s*(?:left|right|top|bottom)\s*:\s*-\d{3,}/i,
  /(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:;|!|$)/i,
  /(?:^|;)\s*clip(?:-path)?\s*:\s*(?:rect\(\s*0|inset\(\s*(?:50|100)%)/i,
];

/** Rules of style sheets that are looked at. */
const MAX_RULES = 2000;
/** Whole pages hide until their scripts have run. */
const WHOLE = /(?:^|[\s>])(?:html|body|main|article|:root|\*)(?:$|[:.[#])/i;

/** Takes out of a document what is hidden by its markup, its own style, or a plain rule of a style sheet in it. */
export function removeHidden(document: Document): void {
  const selectors = [...document.querySelectorAll("style")].flatMap((style) =>
    hidingSelectors(style.textContent ?? ""),
  );
  for (const element of document.querySelectorAll(NEVER_SHOWN)) element.remove();
  for (const element of document.querySelectorAll("[style]")) {
    if (hides(element.getAttribute("style") ?? "")) element.remove();
  }
  for (const selector of selectors) {
    for (const element of matching(document, selector)) element.remove();
  }
}

function hides(style: string): boolean {
  const plain = style.replace(/\/\*[\s\S]*?\*\//g, "");
  return HIDING.some((rule) => rule.test(plain));
}

/** The selectors that a style sheet hides. What is said for some media or on some event is not looked at. */
function hidingSelectors(css: string): string[] {
  const found: string[] = [];
  const plain = withoutBlocks(css.replace(/\/\*[\s\S]*?\*\//g, ""));
  let rules = 0;
  for (const [, selectors = "", style = ""] of plain.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
    if (++rules > MAX_RULES) break;
    if (!hides(style)) continue;
    found.push(
      ...selectors
        .split(",")
        .map((selector) => selector.trim())
        .filter(isPlain),
    );
  }
  return found;
}

function isPlain(selector: string): boolean {
  return selector !== "" && selector.length < 200 && !/[:@]/.test(selector) && !WHOLE.test(selector);
}

/** A style sheet without its at-rules and what is in them. */
function withoutBlocks(css: string): string {
  let plain = "";
  let depth = 0;
  for (const piece of css.split(/(@[^{};]*[{;]|[{}])/)) {
    if (depth === 0 && piece.startsWith("@")) {
      if (piece.endsWith("{")) depth = 1;
    } else if (depth > 0) {
      if (piece.endsWith("{")) depth++;
      else if (piece === "}") depth--;
    } else plain += piece;
  }
  return plain;
}

function matching(document: Document, selector: string): Element[] {
  try {
    return [...document.querySelectorAll(selector)];
  } catch {
    return [];
  }
}
