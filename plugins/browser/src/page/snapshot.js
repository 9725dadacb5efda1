// The page as a tree of roles and names, in lines that a model reads: what can be
// clicked, typed into or chosen has a reference.

function quoted(text) {
  return JSON.stringify(text);
}

// One element on a line, without its indentation.
function lineOf(element, role, name, hasText) {
  const parts = [role || element.localName];
  if (name) parts.push(quoted(name));
  if (isInteractive(element, role)) parts.push(`[ref=${referenceOf(element)}]`);
  for (const state of statesOf(element, role)) parts.push(`[${state}]`);
  if (element.localName === 'input' && !['text', 'checkbox', 'radio', 'submit', 'button', 'search', 'range', 'number', 'file', 'reset', 'image'].includes(element.type)) {
    parts.push(`[type=${element.type}]`);
  }
  if (role === 'file' && element.multiple) parts.push('[multiple]');
  if (role === 'link') parts.push(`[url=${shortUrl(element.href)}]`);
  if (element.localName === 'select') parts.push(choices(element));
  let line = parts.join(' ');
  const value = hasText ? '' : valueOf(element, role);
  if (value && value !== name) line += `: ${quoted(value)}`;
  return line;
}

function choices(select) {
  const labels = [...select.options].slice(0, 15).map((option) => quoted(squeeze(option.label, 60)));
  const more = select.options.length - labels.length;
  return `[options: ${labels.join(', ')}${more > 0 ? `, and ${more} more` : ''}]`;
}

function shortUrl(url) {
  let text = String(url ?? '');
  try {
    const parsed = new URL(text);
    if (parsed.protocol === 'data:' || parsed.protocol === 'javascript:') return parsed.protocol;
    if (parsed.origin === location.origin) text = parsed.pathname + parsed.search + parsed.hash;
  } catch {
    // As it stands.
  }
  return squeeze(text.replaceAll(']', '%5D'), 120);
}

function snapshotOf(root) {
  const lines = [];
  const budget = { left: WALKED, characters: SNAPSHOT };
  const emit = (depth, line) => {
    if (budget.characters <= 0) return;
    const whole = `${'  '.repeat(Math.min(depth, 30))}- ${line}`;
    budget.characters -= whole.length + 1;
    lines.push(whole);
  };
  let text = '';
  let cutOff = false;
  // Within a label, whose words are the name of its field.
  let muted = 0;
  const flush = (depth) => {
    const squeezed = squeeze(text, 2_000);
    text = '';
    if (squeezed) emit(depth, `text: ${quoted(squeezed)}`);
  };
  const walk = (node, depth, level) => {
    if (node.nodeType === 3) {
      if (!muted && (node.parentElement === null || isShown(node.parentElement))) text += node.data;
      return;
    }
    if (node.nodeType === 9) {
      for (const child of [bodyOf(node)]) walk(child, depth, level + 1);
      return;
    }
    if (node.nodeType !== 1 || budget.characters <= 0) return;
    if (level > DEEP || budget.left-- <= 0) {
      cutOff = true;
      return;
    }
    if (isGone(node) || node.getAttribute('aria-hidden') === 'true') return;
    if (node.localName === 'br') {
      text += ' ';
      return;
    }
    const role = roleOf(node);
    const interactive = isInteractive(node, role);
    if ((node.localName === 'label' && node.control && !isGone(node.control)) || (node.localName === 'legend' && node.parentElement?.localName === 'fieldset')) {
      flush(depth);
      muted += 1;
      for (const child of childrenOf(node)) walk(child, depth, level + 1);
      muted -= 1;
      return;
    }
    if ((!role && !interactive) || (!isShown(node) && role !== 'iframe')) {
      const inline = styleOf(node)?.display.startsWith('inline');
      if (!inline) flush(depth);
      for (const child of childrenOf(node)) walk(child, depth, level + 1);
      if (!inline) flush(depth);
      return;
    }
    flush(depth);
    element(node, role, interactive, depth, level);
  };
  const element = (node, role, interactive, depth, level) => {
    const inner = innerDocument(node);
    if (inner) {
      emit(depth, `${lineOf(node, role, nameOf(node, role), false)} [url=${shortUrl(inner.URL)}]`);
      walk(inner, depth + 1, level);
      return;
    }
    if (role === 'iframe') {
      emit(depth, `${lineOf(node, role, nameOf(node, role), false)} [url=${shortUrl(node.src)}] [of another origin]`);
      return;
    }
    if (role === 'row' && !node.querySelector('table,[role=table],[role=grid],iframe')) {
      rowOf(node, depth);
      return;
    }
    const leaf = ['combobox', 'listbox', 'img', 'progressbar', 'meter', 'canvas', 'video', 'audio'].includes(role)
      || ['input', 'textarea', 'select'].includes(node.localName) || (role === 'textbox' && node.isContentEditable);
    const plain = leaf || !holdsInteractive(node);
    if (NAMED_BY_CONTENT.has(role) || leaf || interactive) {
      if (plain) {
        const name = nameOf(node, role) || (leaf ? '' : textOf(node));
        emit(depth, lineOf(node, role, name, false));
        return;
      }
      emit(depth, lineOf(node, role, nameOf(node, role), true));
    } else if (plain && ['paragraph', 'listitem', 'cell', 'term', 'definition', 'code', 'blockquote', 'status', 'alert'].includes(role) && !holdsStructure(node)) {
      const words = textOf(node, 2_000);
      if (words) emit(depth, `${role}: ${quoted(words)}`);
      return;
    } else {
      const before = lines.length;
      emit(depth, lineOf(node, role, nameOf(node, role), true));
      descend(node, depth + 1, level);
      // Nothing is in it, and it says nothing by itself.
      if (lines.length === before + 1 && !nameOf(node, role) && role !== 'separator' && role !== 'dialog') lines.pop();
      return;
    }
    descend(node, depth + 1, level);
  };
  // A row of a table on one line, and what can be used in it below.
  const rowOf = (row, depth) => {
    const cells = [...childrenOf(row)].filter((cell) => cell.nodeType === 1 && !isGone(cell));
    const header = cells.length && cells.every((cell) => roleOf(cell) === 'columnheader');
    emit(depth, `${header ? 'row (header)' : 'row'}: ${cells.map((cell) => textOf(cell) || '-').join(' | ')}`);
    for (const inner of elements(row, (at) => !isGone(at), budget)) {
      const role = roleOf(inner);
      if (inner !== row && isInteractive(inner, role) && !isGone(inner) && isShown(inner)) emit(depth + 1, lineOf(inner, role, nameOf(inner, role) || textOf(inner), false));
    }
  };
  const descend = (node, depth, level) => {
    for (const child of childrenOf(node)) walk(child, depth, level + 1);
    flush(depth);
  };
  walk(root, 0, 0);
  flush(0);
  const whole = !cutOff && budget.characters > 0;
  if (!whole) lines.push('- (the page is larger than a snapshot may be; the rest is left out)');
  return { text: lines.join('\n'), whole };
}

function holdsInteractive(element) {
  const most = { left: 3_000 };
  for (const inner of elements(element, (at) => !isGone(at), most)) {
    if (inner !== element && isInteractive(inner) && !isGone(inner)) return true;
  }
  return most.left <= 0;
}

function holdsStructure(element) {
  return Boolean(element.querySelector('ul,ol,table,h1,h2,h3,h4,h5,h6,p,li,iframe,[role],dl,pre,img[alt]:not([alt=""])'));
}

// Everything that can be acted on, a line each.
function interactableOf(filter) {
  const wanted = String(filter || '').toLowerCase();
  const lines = [];
  let count = 0;
  for (const element of elements(bodyOf(), (at) => !isGone(at))) {
    const role = roleOf(element);
    if (!isInteractive(element, role) || !isVisible(element)) continue;
    const name = nameOf(element, role) || textOf(element, 80);
    if (wanted && !`${role} ${name} ${element.id} ${element.getAttribute('name') || ''}`.toLowerCase().includes(wanted)) continue;
    count += 1;
    if (lines.length < 2_000) lines.push(`- ${lineOf(element, role, name, false)}`);
  }
  return { text: lines.join('\n'), count };
}
