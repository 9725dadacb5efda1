# With this a zsh says where its prompts are, when a command begins and how it
# ended: OSC 133 with a nonce, so that no program can say it instead. It is read
# in place of ~/.zshenv, which it reads; the other files are read as ever.

if [[ -n ${WHARF_ZDOTDIR+set} ]]; then
    export ZDOTDIR=$WHARF_ZDOTDIR
    unset WHARF_ZDOTDIR
else
    unset ZDOTDIR
fi
typeset -g +x __wharf_nonce=${WHARF_SHELL_NONCE-}
unset WHARF_SHELL_NONCE

if [[ -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
    . ${ZDOTDIR-$HOME}/.zshenv
fi

if [[ -n $__wharf_nonce && -o interactive ]]; then
    # No tracing, or the nonce would be shown.
    __wharf_say() {
        emulate -L zsh +x
        builtin printf '\e]133;%s;nonce=%s\a' "$1" "$__wharf_nonce" >&2
    }

    __wharf_began() {
        emulate -L zsh +x
        __wharf_say C
    }

    # A zsh that finds the cursor in mid-line marks that and goes to the next
    # one. It would do so before this, and the mark would be a part of the
    # answer, so it is done here.
    __wharf_ended() {
        local code=$?
        emulate -L zsh +x
        __wharf_say "D;$code"
        if [[ -n $__wharf_marks_ends ]]; then
            print -Pn '%B%S%#%s%b' >&2
            print -rn -- "${(l:COLUMNS-1:):-}"$'\r \r' >&2
        fi
    }

    # After all others, which may have made a new prompt. A prompt may go to
    # other shells: only the one for more has the nonce, and that one does not.
    __wharf_mark_prompts() {
        emulate -L zsh +x
        if [[ $PS1 != *'133;A'* ]]; then
            PS1=$'%{\e]133;A\a%}'$PS1$'%{\e]133;B\a%}'
        fi
        if [[ $PS2 != *'133;A'* ]]; then
            typeset -g +x PS2=$'%{\e]133;A;k=s;nonce='$__wharf_nonce$'\a%}'$PS2$'%{\e]133;B\a%}'
        fi
    }

    # At the first prompt, which ends no command: by then the other files have
    # been read, and what they added stays. Whatever options the user has set,
    # this one changes but one of them.
    __wharf_begin() {
        if [[ -o prompt_sp && -o prompt_cr && -z ${PROMPT_EOL_MARK+set} ]]; then
            typeset -g __wharf_marks_ends=yes
            unsetopt prompt_sp
        fi
        # This one would be called before all that are in the list.
        if [[ -n ${functions[precmd]-} ]]; then
            functions[__wharf_own_precmd]=${functions[precmd]}
            unset -f precmd
            precmd_functions=(__wharf_own_precmd "${precmd_functions[@]}")
        fi
        precmd_functions=(__wharf_ended "${(@)precmd_functions:#__wharf_begin}" __wharf_mark_prompts)
        preexec_functions=(__wharf_began "${preexec_functions[@]}")
        __wharf_mark_prompts
        unset -f __wharf_begin
    }
    typeset -g __wharf_marks_ends=
    precmd_functions+=(__wharf_begin)
fi
