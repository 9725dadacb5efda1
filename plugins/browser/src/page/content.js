// What the page has to say, without what is around it: as Markdown, text or plain
// HTML.

const AROUND = 'nav,header,footer,aside,[role=navigation],[role=banner],[role=contentinfo],[role=complementary],[role=search]';
const BOILERPLATE = /(^|[-_\s])(cookie|consent|gdpr|advert|ads|banner|sidebar|breadcrumbs?|newsletter|social|share|related|promo)($|[-_\s])/i;

// What of the page is read, and what is left out of it.
function readable(everything) {
  const body = bodyOf();
  if (everything) return { root: body, left: [] };
  const length = (element) => (element.innerText || '').trim().length;
  const whole = length(body);
  const mains = [...body.querySelectorAll('main,[role=main]')].filter(isVisible);
  const articles = [...body.querySelectorAll('article')].filter(isVisible);
  for (const found of [mains, articles]) {
    if (found.length === 1 && length(found[0]) >= Math.min(200, whole / 4)) return { root: found[0], left: ['all outside of its main part'] };
  }
  const left = new Set();
  const leave = new Set();
  for (const element of body.querySelectorAll(AROUND)) {
    if (!isInSection(element) || !['header', 'footer'].includes(element.localName)) leave.add(element);
  }
  for (const element of body.querySelectorAll('[class],[id]')) {
    if (BOILERPLATE.test(element.id) || BOILERPLATE.test(element.getAttribute('class') || '')) leave.add(element);
  }
  let lost = 0;
  for (const element of leave) {
    const size = length(element);
    if (size > whole * 0.4) leave.delete(element);
    else if (![...leave].some((other) => other !== element && other.contains(element))) lost += size;
    if (leave.has(element) && size) left.add(roleOf(element) || squeeze(element.id || element.className, 30) || element.localName);
  }
  if (lost > whole * 0.7) return { root: body, left: [] };
  return { root: body, skip: leave, left: [...left].slice(0, 8) };
}

function address(url) {
  if (!url || /^(javascript|data|blob):/i.test(url)) return '';
  return shortUrl(url).replaceAll(' ', '%20').replaceAll(')', '%29');
}

// Markdown of what is read; `plain` leaves out all marks.
function written(root, skip = new Set(), plain = false) {
  const budget = { left: WALKED, characters: CONTENT };
  const marks = (mark, text) => (plain || !text.trim() ? text : text.replace(/^(\s*)([\s\S]*?)(\s*)$/, `$1${mark}$2${mark}$3`));
  const skips = (node) => skip.has(node) || isGone(node) || node.getAttribute('aria-hidden') === 'true';
  const inline = (node) => {
    let text = '';
    for (const child of childrenOf(node)) text += inlineOf(child);
    return text;
  };
  const inlineOf = (node) => {
    if (node.nodeType === 3) return node.parentElement && !isShown(node.parentElement) ? '' : node.data.replace(/[\s\u00a0]+/g, ' ');
    if (node.nodeType !== 1 || budget.left-- <= 0 || skips(node)) return '';
    switch (node.localName) {
      case 'br': return '\n';
      case 'b': case 'strong': return marks('**', inline(node));
      case 'i': case 'em': return marks('*', inline(node));
      case 's': case 'del': return marks('~~', inline(node));
      case 'code': case 'kbd': case 'samp': return marks('`', inline(node));
      case 'a': {
        const text = inline(node).trim();
        const url = address(node.getAttribute('href') && node.href);
        return plain || !url || !text ? text : `[${text}](${url})`;
      }
      case 'img': {
        const [alt, url] = [squeeze(node.alt), address(node.currentSrc || node.src)];
        return plain || !url || !alt ? alt : `![${alt}](${url})`;
      }
      case 'input': case 'textarea': case 'select': case 'button': return control(node);
      default: return isBlock(node) ? `\n\n${blocks(node)}\n\n` : inline(node);
    }
  };
  const control = (node) => {
    const role = roleOf(node);
    const value = valueOf(node, role);
    if (role === 'checkbox' || role === 'radio') return node.checked ? '[x] ' : '[ ] ';
    if (role === 'button') return `[${nameOf(node, role)}]`;
    if (node.labels?.length) return `[${value || '____'}]`;
    return `[${[nameOf(node, role), value].filter(Boolean).join(': ') || '____'}]`;
  };
  const isBlock = (node) => !styleOf(node)?.display.startsWith('inline') && styleOf(node)?.display !== 'contents';
  const table = (node) => {
    const rows = [...node.rows].slice(0, 2_000).filter((row) => !skips(row));
    const cells = (row) => [...row.cells].filter((cell) => !skips(cell)).map((cell) => inline(cell).replace(/\s+/g, ' ').replaceAll('|', '\\|').trim());
    if (!rows.length) return '';
    if (plain) return rows.map((row) => cells(row).join('\t')).join('\n');
    const lines = rows.map((row) => `| ${cells(row).join(' | ')} |`);
    lines.splice(1, 0, `|${' --- |'.repeat(Math.max(cells(rows[0]).length, 1))}`);
    const caption = squeeze(node.caption?.textContent);
    return (caption ? `${caption}\n\n` : '') + lines.join('\n');
  };
  const list = (node, depth) => {
    let number = node.localName === 'ol' ? node.start || 1 : null;
    const lines = [];
    for (const item of childrenOf(node)) {
      if (item.nodeType !== 1 || skips(item)) continue;
      const mark = number === null ? '-' : `${number++}.`;
      const text = blocks(item, depth + 1).replace(/\n{2,}/g, '\n').replaceAll('\n', `\n${' '.repeat(mark.length + 1)}`);
      lines.push(`${mark} ${text}`);
    }
    return lines.join('\n');
  };
  const blockOf = (node, depth) => {
    const tag = node.localName;
    if (/^h[1-6]$/.test(tag)) return `${plain ? '' : `${'#'.repeat(Number(tag[1]))} `}${inline(node).replace(/\s+/g, ' ').trim()}`;
    if (tag === 'table' && roleOf(node) === 'table') return table(node);
    if ((tag === 'ul' || tag === 'ol' || tag === 'menu') ) return list(node, depth);
    if (tag === 'pre') return plain ? node.innerText : `\`\`\`\n${node.innerText.replaceAll('```', "'''").trimEnd()}\n\`\`\``;
    if (tag === 'blockquote') return plain ? blocks(node, depth) : blocks(node, depth).replace(/^/gm, '> ');
    if (tag === 'hr') return plain ? '' : '---';
    const inner = innerDocument(node);
    if (inner) return blocks(bodyOf(inner), depth);
    return ['img', 'input', 'textarea', 'select', 'button', 'a', 'b', 'strong', 'i', 'em', 's', 'del', 'code', 'kbd', 'samp'].includes(tag) ? inlineOf(node).trim() : blocks(node, depth);
  };
  const blocks = (node, depth = 0) => {
    const parts = [];
    let line = '';
    const flush = () => {
      const text = line.split('\n').map((one) => one.replace(/ +/g, ' ').trim()).join('\n').replace(/\n{3,}/g, '\n\n').trim();
      line = '';
      if (text) add(text);
    };
    const add = (text) => {
      if (budget.characters <= 0) return;
      budget.characters -= text.length;
      parts.push(text);
    };
    for (const child of childrenOf(node)) {
      if (budget.left <= 0 || budget.characters <= 0) break;
      if (child.nodeType === 1 && budget.left-- > 0 && !skips(child) && (isBlock(child) || innerDocument(child))) {
        flush();
        if (depth > DEEP) {
          budget.left = 0;
          break;
        }
        const text = blockOf(child, depth + 1);
        if (text.trim()) add(text.trimEnd());
      } else {
        line += inlineOf(child);
      }
    }
    flush();
    return parts.join('\n\n');
  };
  const text = blockOf(root, 0).replace(/\n{3,}/g, '\n\n').trim();
  return { text, whole: budget.left > 0 && budget.characters > 0 };
}

const KEPT = ['href', 'src', 'alt', 'title', 'id', 'name', 'type', 'value', 'role', 'aria-label', 'for', 'action', 'method', 'colspan', 'rowspan', 'placeholder', 'datetime', 'lang'];

// HTML without scripts, styles and what nobody sees.
function markup(root, skip = new Set()) {
  const parts = [];
  const budget = { left: WALKED, characters: CONTENT };
  const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const add = (text) => {
    budget.characters -= text.length;
    if (budget.characters > 0) parts.push(text);
  };
  const write = (node, depth) => {
    if (node.nodeType === 3) return add(escaped(node.data.replace(/\s+/g, ' ')));
    if (node.nodeType !== 1 || depth > DEEP || budget.left-- <= 0 || skip.has(node) || isGone(node)) return undefined;
    const tag = node.localName;
    const attributes = KEPT.filter((name) => node.hasAttribute(name) && !(name === 'value' && node.type === 'password'))
      .map((name) => ` ${name}="${escaped(squeeze(node.getAttribute(name).startsWith('data:') ? 'data:' : node.getAttribute(name), 500))}"`);
    add(`<${tag}${attributes.join('')}>`);
    if (['br', 'hr', 'img', 'input', 'wbr'].includes(tag)) return undefined;
    const inner = innerDocument(node);
    for (const child of inner ? [bodyOf(inner)] : childrenOf(node)) write(child, depth + 1);
    return add(`</${tag}>${isInlineTag(tag) ? '' : '\n'}`);
  };
  write(root, 0);
  return parts.join('').replace(/\s*\n\s*/g, '\n').trim();
}

function isInlineTag(tag) {
  return ['a', 'b', 'i', 'em', 'strong', 'span', 'code', 'small', 'sub', 'sup', 'label', 'option', 'button'].includes(tag);
}

function contentOf(format, everything) {
  const { root, skip, left } = readable(everything);
  const made = format === 'html' ? { text: markup(root, skip), whole: true } : written(root, skip, format === 'text');
  return { ...made, left };
}
